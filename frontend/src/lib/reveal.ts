/** Brings an element into sight and gives it the keyboard, once it is there: a drawer may have to open first. */
const FRAMES = 60;

export function reveal(selector: string, frames = FRAMES): void {
  const element = document.querySelector<HTMLElement>(selector);
  if (element === null) {
    if (frames > 0) requestAnimationFrame(() => reveal(selector, frames - 1));
    return;
  }
  unfold(element);
  element.scrollIntoView({ block: "center" });
  const reachable = "input:not([disabled]), button:not([disabled]), [tabindex='0']";
  element.querySelector<HTMLElement>(reachable)?.focus({ preventScroll: true });
}

/** Opens the folded part in which the element stands. */
function unfold(element: HTMLElement): void {
  const label = element.closest("[role='region'][aria-labelledby]")?.getAttribute("aria-labelledby");
  const handle = label ? document.getElementById(label) : null;
  if (handle?.getAttribute("aria-expanded") === "false") handle.click();
}
