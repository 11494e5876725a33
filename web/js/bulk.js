// Says how many rows are ticked. "All" stands for the rows that are on other pages too.
addEventListener("change", (event) => {
  const form = event.target.closest("[data-bulk]");
  if (!form) return;
  const rows = [...form.querySelectorAll("[data-bulk-row]")];
  const all = form.querySelector("[data-bulk-all]");
  if (event.target === all) for (const row of rows) row.checked = all.checked;
  else all.checked = false;
  const ticked = rows.filter((row) => row.checked).length;
  form.querySelector("[data-bulk-count]").textContent = all.checked ? "All that match are selected" : ticked ? `${ticked} selected` : "Tick rows to act on them";
});
