// Copy buttons copy, and answer.
import { say } from "./toast.js";

const answered = 2000;

async function write(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  // Without https there is no clipboard interface; the old command still works.
  const area = document.createElement("textarea");
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("copy refused");
}

function answer(button) {
  const label = button.querySelector("[data-copy-label]");
  const was = label?.textContent;
  button.style.minWidth = `${button.offsetWidth}px`;
  button.dataset.copied = "";
  if (label) label.textContent = "Copied";
  document.getElementById("copied").textContent = "Copied";
  setTimeout(() => {
    delete button.dataset.copied;
    if (label) label.textContent = was;
    document.getElementById("copied").textContent = "";
  }, answered);
}

addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button || "copied" in button.dataset) return;
  try {
    await write(button.dataset.copy);
    answer(button);
  } catch {
    say("problem", "The browser did not allow copying. Select the text and copy it by hand.");
  }
});
