// The delivery log is kept current while someone looks at it and does not pause it. Rows that are there are updated where
// they stand; new ones wait behind a button, so that nothing moves under the reader's eyes.
import htmx from "htmx.org";

const every = 4000;
let paused = false;

const listAddress = () => {
  const drawer = document.getElementById("drawer");
  return drawer?.open ? drawer.dataset.list : location.pathname + location.search;
};

async function update() {
  const list = document.querySelector("[data-live]");
  if (!list || paused || document.hidden || document.querySelector("dialog:modal")) return;
  if (!getSelection().isCollapsed) return; // someone is about to copy
  const address = listAddress();
  const response = await fetch(address, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (!response?.ok || response.redirected || address !== listAddress() || !list.isConnected) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("list");
  if (fresh) merge(list, fresh);
}

const rows = (list) => new Map([...list.querySelectorAll("tbody tr")].map((row) => [row.querySelector(".row-link")?.id, row]));
const content = (row) => [row.textContent.replace(/\s+/g, " "), ...[...row.querySelectorAll("time")].map((time) => time.dateTime)].join(" ");

function merge(list, fresh) {
  const here = rows(list);
  const there = rows(fresh);
  if (here.size === 0) {
    if (there.size > 0) replace(list, fresh);
    return;
  }
  for (const [id, row] of there) {
    const old = here.get(id);
    if (!old || old.contains(document.activeElement) || content(old) === content(row)) continue;
    row.classList.toggle("row-open", old.classList.contains("row-open"));
    old.replaceWith(row);
    htmx.process(row);
  }
  const count = [...there.keys()].filter((id) => !here.has(id)).length;
  const button = list.querySelector("[data-live-new]");
  button.hidden = count === 0;
  button.textContent = `${count} new`;
  button.onclick = () => replace(list, fresh);
}

function replace(list, fresh) {
  list.replaceWith(fresh);
  htmx.process(fresh);
}

setInterval(update, every);

addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-live-switch]");
  if (!button) return;
  paused = !paused;
  show(button);
  if (!paused) update();
});

addEventListener("htmx:afterSettle", () => {
  const button = document.querySelector("[data-live-switch]");
  if (button) show(button);
});

function show(button) {
  button.setAttribute("aria-pressed", String(!paused));
  button.textContent = paused ? "Paused" : "Live";
}
