// Titles show at once, on hover and on focus, in place of the browser's slow ones.
const tip = document.createElement("div");
tip.className = "tip";
tip.id = "tip";
tip.popover = "manual";
tip.setAttribute("role", "tooltip");
(document.querySelector("main") ?? document.body).append(tip);

let subject;

function show(element, words = element.title) {
  hide();
  if (!words) return;
  // What is written out in full needs no repetition.
  if (element.matches(".cut") && element.scrollWidth <= element.clientWidth && words === element.textContent.trim()) return;
  subject = element;
  element.dataset.title = element.title;
  element.title = "";
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
  if (subject.dataset.title) subject.title = subject.dataset.title;
  else subject.removeAttribute("title");
  delete subject.dataset.title;
  subject.removeAttribute("aria-describedby");
  subject = undefined;
  tip.hidePopover();
}

// A row's times are no tab stops; focus on the row shows them all.
const times = (row) =>
  [...row.querySelectorAll("time")].map((time) => `${time.closest("[data-label]").dataset.label}: ${time.title.split("\n")[0]}`).join("\n");

const titled = (event) => event.target.closest?.("[title], [data-title]");

addEventListener("pointerover", (event) => {
  const element = titled(event);
  if (event.pointerType !== "mouse" || element === subject) return;
  if (element) show(element);
  else hide();
});
addEventListener("focusin", (event) => {
  if (event.target.matches("[title]:focus-visible")) show(event.target);
  if (event.target.matches(".row-link:focus-visible")) show(event.target, times(event.target.closest("tr")));
});
addEventListener("focusout", hide);
addEventListener("scroll", hide, { capture: true, passive: true });
addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
});
addEventListener("htmx:beforeSwap", hide);
