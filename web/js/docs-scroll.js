// Swagger UI brings a script that takes over clicks on links within a page: it scrolls targets under our header and
// keeps the address as it was. This switches it off, so it must be loaded before Swagger UI.
window.noZensmooth = true;
