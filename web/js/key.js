// Keys that work anywhere on a page, unless someone is typing: Ctrl-K goes anywhere, / moves to the search, j and k go
// through the rows, ? lists the keys.
import htmx from "htmx.org";

const typing = (element) => element?.closest?.("input, textarea, select, [contenteditable]");
const palette = document.getElementById("palette");
const keys = document.getElementById("keys");

function openPalette() {
  const input = palette.querySelector("input");
  input.value = "";
  palette.showModal();
  input.focus();
  htmx.trigger(input, "open");
}

// The rows of a list are reached by their first links.
function moveInList(links, step) {
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}

const acts = {
  "/": () => {
    const search = document.querySelector("[data-search]");
    search?.focus();
    search?.select();
  },
  "?": () => keys?.showModal(),
  j: () => moveInList([...document.querySelectorAll("table.rows tbody th a")], 1),
  k: () => moveInList([...document.querySelectorAll("table.rows tbody th a")], -1),
};

addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && palette) {
    event.preventDefault();
    if (palette.open) palette.close();
    else if (!document.querySelector("dialog:modal")) openPalette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (!acts[event.key] || document.querySelector("dialog:modal")) return;
  event.preventDefault();
  acts[event.key]();
});

palette?.addEventListener("keydown", (event) => {
  const links = [...palette.querySelectorAll(".found a")];
  if (event.key === "Enter" && event.target.matches("input")) links[0]?.click();
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  if (event.key === "ArrowUp" && document.activeElement === links[0]) palette.querySelector("input").focus();
  else moveInList(links, event.key === "ArrowDown" ? 1 : -1);
});

for (const box of [palette, keys]) box?.addEventListener("click", (event) => event.target === box && box.close()); // the veil
