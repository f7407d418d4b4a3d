// Runs before the first paint, so that the page does not flash in the other colour scheme.
// A file of its own because the content policy allows no inline scripts.
(function () {
  var stored = null;
  try {
    stored = window.localStorage.getItem("dressage-color-scheme");
  } catch {
    // Storage may be forbidden; the system's scheme is used then.
  }
  var dark = stored === "dark" || (stored !== "light" && window.matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
