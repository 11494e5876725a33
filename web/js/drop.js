// A file that is dropped anywhere on a page with a field for one goes into that field.
const target = (event) => event.dataTransfer?.types.includes("Files") && document.querySelector("input[type=file]");

addEventListener("dragover", (event) => {
  const field = target(event);
  if (!field) return;
  event.preventDefault(); // otherwise the browser would leave the page and open the file
  field.classList.add("input-drop");
});

addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) target(event)?.classList.remove("input-drop");
});

addEventListener("drop", (event) => {
  const field = target(event);
  if (!field) return;
  event.preventDefault();
  field.classList.remove("input-drop");
  const first = new DataTransfer();
  first.items.add(event.dataTransfer.files[0]);
  field.files = first.files;
  field.dispatchEvent(new Event("change", { bubbles: true }));
  field.focus();
});
