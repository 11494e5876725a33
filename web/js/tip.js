// Titles show at once, on hover and on focus, in place of the browser's slow ones.
const tip = document.createElement("div");
tip.className = "tip";
tip.id = "tip";
tip.popover = "manual";
tip.setAttribute("role", "tooltip");
(document.querySelector("main") ?? document.body).append(tip);

let subject;

function show(element) {
  hide();
  const words = element.title;
  if (!words) return;
  // What is written out in full needs no repetition.
  if (element.matches(".cut") && element.scrollWidth <= element.clientWidth && words === element.textContent.trim()) return;
  subject = element;
  element.title = "";
  element.dataset.title = words;
  element.setAttribute("aria-describedby", "tip");
  tip.textContent = words;
  tip.showPopover();
  place(element.getBoundingClientRect());
}

function place(box) {
  const size = tip.getBoundingClientRect();
  const below = box.bottom + 4 + size.height < innerHeight;
  const left = Math.min(Math.max(8, box.left), innerWidth - size.width - 8);
  tip.style.top = `${below ? box.bottom + 4 : box.top - size.height - 4}px`;
  tip.style.left = `${left}px`;
}

function hide() {
  if (!subject) return;
  subject.title = subject.dataset.title;
  delete subject.dataset.title;
  subject.removeAttribute("aria-describedby");
  subject = undefined;
  tip.hidePopover();
}

const titled = (event) => event.target.closest?.("[title], [data-title]");

addEventListener("pointerover", (event) => {
  const element = titled(event);
  if (event.pointerType !== "mouse" || element === subject) return;
  if (element) show(element);
  else hide();
});
addEventListener("focusin", (event) => {
  if (event.target.matches("[title]:focus-visible")) show(event.target);
});
addEventListener("focusout", hide);
addEventListener("scroll", hide, { capture: true, passive: true });
addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
});
addEventListener("htmx:beforeSwap", hide);
