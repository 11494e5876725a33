// A form that was sent says so and is not sent twice.
function sent(event) {
  const form = event.target;
  if (form.method === "get" || form.method === "dialog" || form.hasAttribute("data-themes")) return;
  if (form.dataset.sent) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  form.dataset.sent = "yes";
  (event.submitter ?? form.querySelector("[type=submit]"))?.setAttribute("data-busy", "");
}

addEventListener("submit", sent, { capture: true }); // before htmx takes it

const rest = (root) => {
  for (const form of root.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  for (const button of root.querySelectorAll("[data-busy]")) button.removeAttribute("data-busy");
};

// A page that comes back from the browser's cache, and a form that htmx has sent, can be used again.
addEventListener("pageshow", () => rest(document));
addEventListener("htmx:afterRequest", () => rest(document));
