// The delivery log is kept current while someone looks at it and does not pause it.
import htmx from "htmx.org";

const every = 4000;
let paused = false;

function due() {
  const list = document.querySelector("[data-live]");
  if (!list || paused || document.hidden || document.querySelector("dialog:modal")) return;
  if (!getSelection().isCollapsed) return; // someone is about to copy
  const address = new URL(location);
  htmx.ajax("GET", address.pathname + address.search, { target: "#list", select: "#list", swap: "outerHTML", source: list });
}

setInterval(due, every);

// An answer that shows nothing new is not swapped in: hover and focus stay undisturbed.
addEventListener("htmx:beforeSwap", (event) => {
  const list = event.detail.target;
  if (!list.matches?.("[data-live]") || event.detail.requestConfig.elt !== list) return;
  const fresh = new DOMParser().parseFromString(event.detail.serverResponse, "text/html").getElementById("list");
  if (!fresh || rows(fresh) === rows(list)) event.detail.shouldSwap = false;
});

const rows = (list) =>
  [...list.querySelectorAll("[data-total], tbody tr")]
    .map((row) => [row.textContent, ...[...row.querySelectorAll("time")].map((time) => time.dateTime)].join(" "))
    .join("\n")
    .replace(/\s+/g, " ");

addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-live-switch]");
  if (!button) return;
  paused = !paused;
  show(button);
  if (!paused) due();
});

addEventListener("htmx:afterSettle", () => {
  const button = document.querySelector("[data-live-switch]");
  if (button) show(button);
});

function show(button) {
  button.setAttribute("aria-pressed", String(!paused));
  button.textContent = paused ? "Paused" : "Live";
}
