// Messages about what was done. Good news goes by itself, a problem stays until it is dismissed.
const stay = 8000;

const leave = (toast) => {
  setTimeout(() => {
    if (toast.matches(":hover, :focus-within")) leave(toast);
    else toast.remove();
  }, stay);
};

for (const toast of document.querySelectorAll("[data-toast=done]")) leave(toast);

addEventListener("htmx:oobAfterSwap", () => {
  for (const toast of document.querySelectorAll("[data-toast=done]")) leave(toast);
});

addEventListener("click", (event) => event.target.closest?.("[data-dismiss]")?.closest("[data-toast]").remove());

export function say(kind, text) {
  const template = document.getElementById(`toast-${kind}`);
  const toast = template.content.firstElementChild.cloneNode(true);
  toast.querySelector("p").textContent = text;
  document.getElementById("toasts").append(toast);
  if (kind === "done") leave(toast);
}

// A server can answer an htmx request with HX-Trigger: {"toast": {"kind": "done", "text": "…"}}.
addEventListener("toast", (event) => say(event.detail.kind, event.detail.text));

addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  if (status === 401) location.reload(); // leads to sign-in and back
  else say("problem", "That did not work. Reload the page and try again.");
});
addEventListener("htmx:sendError", () => say("problem", "No connection to the server. Check your network and try again."));
