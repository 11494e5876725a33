// Confirm pages open in a dialog, deliveries beside their list.
const dialog = document.getElementById("dialog");
const drawer = document.getElementById("drawer");
let opener;

addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target === dialog || event.detail.target?.id === "drawer-body") opener = event.detail.elt;
});

addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target === dialog) {
    dialog.showModal();
    dialog.querySelector("[autofocus]")?.focus();
  }
  if (event.detail.target.id === "drawer-body") open();
});

function open() {
  for (const row of document.querySelectorAll(".row-open")) row.classList.remove("row-open");
  opener?.closest("tr")?.classList.add("row-open");
  drawer.dataset.row = opener?.id ?? "";
  // Not modal: one compares by clicking from row to row.
  if (!drawer.open) drawer.show();
  drawer.scrollTop = 0;
}

function shut() {
  drawer.close();
  document.querySelector(".row-open")?.classList.remove("row-open");
  document.getElementById(drawer.dataset.row)?.focus();
}

drawer?.addEventListener("keydown", (event) => {
  if (event.key === "Escape") shut();
});

// The list under an open drawer is swapped when it is live; its row stays marked.
addEventListener("htmx:afterSettle", () => {
  if (drawer?.open) document.getElementById(drawer.dataset.row)?.closest("tr")?.classList.add("row-open");
});

addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // the veil
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
