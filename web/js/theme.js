// The theme changes at once; the server remembers it.
addEventListener("submit", (event) => {
  const form = event.target.closest("[data-themes]");
  if (!form || !event.submitter) return;
  event.preventDefault();
  const chosen = event.submitter.value;
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  for (const button of form.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button === event.submitter));
  }
  dispatchEvent(new Event("themechange"));
  fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, event.submitter)), redirect: "manual" });
});
