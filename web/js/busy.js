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
addEventListener("htmx:afterRequest", (event) => {
  rest(document);
  renew(event.detail.elt);
});

// A form that stays on the page after htmx has sent it gets a new nonce: the server acts once for each.
function renew(form) {
  const nonce = form.matches("form") && form.elements.nonce;
  if (nonce) nonce.value = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
