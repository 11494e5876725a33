// Filters act at once. Empty ones stay out of the address, and links that carry the filter follow it.
addEventListener("htmx:configRequest", (event) => {
  if (!event.detail.elt.matches("[data-filters]")) return;
  const { parameters } = event.detail;
  for (const name of Object.keys(parameters)) if (!parameters[name]) delete parameters[name];
  if (parameters.period !== "custom") {
    delete parameters.from;
    delete parameters.to;
  }
});

// The next page of a list starts at its top, for the eye and for the keyboard.
addEventListener("htmx:afterSettle", (event) => {
  if (!event.detail.requestConfig?.elt?.closest?.(".pager")) return;
  const list = document.getElementById("list");
  list.tabIndex = -1;
  list.focus({ preventScroll: true });
  list.scrollIntoView({ block: "start" });
});

addEventListener("htmx:pushedIntoHistory", () => {
  const form = document.querySelector("[data-filters]");
  if (!form || new URL(form.action).pathname !== location.pathname) return; // a drawer has opened
  const filter = new URL(location).searchParams;
  for (const link of document.querySelectorAll("[data-follow]")) {
    const to = new URL(link.href);
    for (const name of link.dataset.follow.split(" ")) {
      if (filter.get(name)) to.searchParams.set(name, filter.get(name));
      else to.searchParams.delete(name);
    }
    link.href = to;
  }
  filter.delete("after");
  for (const link of document.querySelectorAll(".filters-clear")) link.classList.toggle("idle", filter.size === 0);
});

// What somebody chose before this script had loaded, or the browser filled in again, acts too.
addEventListener("htmx:load", (event) => {
  if (event.target !== document.body) return;
  for (const form of document.querySelectorAll("form[hx-trigger]")) {
    if ([...form.elements].some(differs)) form.dispatchEvent(new Event("change"));
  }
});

// differs reports whether a field holds something else than what the page came with.
function differs(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field instanceof HTMLSelectElement) {
    const first = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(first, 0);
  }
  return "defaultValue" in field && field.value !== field.defaultValue;
}
