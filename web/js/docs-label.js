// Names the controls that Swagger UI leaves without a name, for people who hear the page.
function nameOf(control) {
  if (control.matches(".examples-select-element")) return "Example";
  if (control.matches(".body-param__text")) return "Request body";
  if (control.matches(".close-modal")) return "Close";
  const row = control.closest("tr");
  return row?.dataset.paramName ?? row?.querySelector(".parameter__name")?.firstChild?.textContent ?? "Value";
}

function label(box) {
  for (const control of box.querySelectorAll("select, textarea, input[type=text], .close-modal")) {
    if (control.labels?.length || (control.ariaLabel && !("named" in control.dataset))) continue;
    control.ariaLabel = nameOf(control); // anew each time: a parameter's name may arrive late
    control.dataset.named = "";
  }
  // An aria-label that differs from what the button shows can not be spoken to.
  for (const button of box.querySelectorAll(".modal-btn[aria-label]")) button.removeAttribute("aria-label");
  for (const text of box.querySelectorAll(":is(pre, .renderedMarkdown table):not([tabindex])")) text.tabIndex = 0;
}

export function keepLabelled(box) {
  new MutationObserver(() => label(box)).observe(box, { childList: true, subtree: true });
  label(box);
}
