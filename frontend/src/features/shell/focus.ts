/** Moves the keyboard focus to the controls of a run. */

const FIRST = 'input:not([disabled]), [role="slider"], button:not([disabled])';

/** Focuses the field of a steerable path, or the first of all controls. Says whether there was one on the page. */
export function focusControls(path?: string): boolean {
  const opener = document.querySelector<HTMLElement>('[data-testid="open-controls"]');
  const rail = document.querySelector<HTMLElement>('[data-testid="control-rail"]');
  if (!rail) {
    opener?.click(); // on narrow screens they are in a drawer, which takes the focus
    return opener !== null;
  }
  const place = path === undefined ? rail : rail.querySelector<HTMLElement>(`[data-targets~="${CSS.escape(path)}"]`);
  if (!place) return false;
  const fold = place.closest(".mantine-Accordion-item")?.querySelector<HTMLElement>('[aria-expanded="false"]');
  fold?.click();
  const field = place.querySelector<HTMLElement>(FIRST);
  field?.scrollIntoView({ block: "center" });
  field?.focus();
  return field !== null;
}
