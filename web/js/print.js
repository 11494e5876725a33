// A button that prints the page. Without scripts the browser's own menu does.
addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});
