// Confirm pages open in a dialog, deliveries in a drawer next to their list.
const dialog = document.getElementById("dialog");
const drawer = document.getElementById("drawer");
let opener;

addEventListener("htmx:beforeRequest", (event) => {
  const { target, elt } = event.detail;
  if (target === dialog) opener = elt;
  if (target?.id !== "drawer-body") return;
  opener = elt;
  document.getElementById("drawer-body").replaceChildren(document.getElementById("drawer-skeleton").content.cloneNode(true));
  open();
});

addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target !== dialog) return;
  dialog.showModal();
  dialog.querySelector("[autofocus]")?.focus();
});

function open() {
  for (const row of document.querySelectorAll(".row-open")) row.classList.remove("row-open");
  opener?.closest("tr")?.classList.add("row-open");
  drawer.dataset.row = opener?.id ?? "";
  // While the drawer is open the address is that of its page; the list's own is kept for later.
  if (!drawer.open) drawer.dataset.list = location.pathname + location.search;
  // Not modal: one compares by clicking from row to row.
  markEnds();
  if (!drawer.open) drawer.show();
  drawer.scrollTop = 0;
}

// The focus is lost with what was swapped and with a button that is disabled meanwhile.
function keepFocus() {
  if (document.activeElement === document.body) drawer.querySelector("[data-close]").focus({ preventScroll: true });
}

// neighbour returns the link of the row that is some steps from the open one.
function neighbour(step) {
  const links = [...document.querySelectorAll("#list .row-link")];
  return links[links.findIndex((link) => link.id === drawer.dataset.row) + step];
}

function markEnds() {
  for (const button of drawer?.querySelectorAll("[data-step]") ?? []) button.disabled = !drawer.dataset.row || !neighbour(Number(button.dataset.step));
}

function shut() {
  drawer.close();
  history.pushState({ htmx: true }, "", drawer.dataset.list);
  document.querySelector(".row-open")?.classList.remove("row-open");
  const list = document.getElementById("list");
  list.tabIndex = -1;
  (document.getElementById(drawer.dataset.row) ?? list).focus(); // a row that no longer fits the filter has left the list
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && drawer?.open && !document.querySelector("dialog:modal")) shut();
});

// The list under an open drawer is swapped when it is live; its row stays marked.
addEventListener("htmx:afterSettle", () => {
  if (!drawer?.open) return;
  document.getElementById(drawer.dataset.row)?.closest("tr")?.classList.add("row-open");
  markEnds();
  keepFocus();
});

addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // the veil
  const step = event.target.closest?.("[data-step]");
  if (step) neighbour(Number(step.dataset.step))?.click();
  const close = event.target.closest?.("[data-close]");
  const box = close?.closest("dialog");
  if (!box) return;
  event.preventDefault();
  if (box === drawer) shut();
  else box.close();
});

// Whoever wants a page in a new tab gets the page.
addEventListener("htmx:confirm", (event) => {
  const cause = event.detail.triggeringEvent;
  if (cause instanceof MouseEvent && (cause.ctrlKey || cause.metaKey || cause.shiftKey)) event.preventDefault();
});
