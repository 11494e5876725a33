// Filters act at once. Empty ones stay out of the address, and links that carry the filter follow it.
addEventListener("htmx:configRequest", (event) => {
  if (!event.detail.elt.matches("[data-filters]")) return;
  const { parameters } = event.detail;
  for (const name of Object.keys(parameters)) if (!parameters[name]) delete parameters[name];
});

addEventListener("htmx:pushedIntoHistory", () => {
  const link = document.querySelector("[data-export]");
  if (!link) return;
  const to = new URL(link.href);
  const query = new URL(location).searchParams;
  query.delete("after");
  query.delete("before");
  to.search = query;
  link.href = to;
});
