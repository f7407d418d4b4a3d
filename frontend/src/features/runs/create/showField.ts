import type { Path } from "@/features/schema-form/pointer";

/** Scrolls to a field of the form, or to what stands around it, and focuses its first input. */
export function showField(path: Path): void {
  for (let length = path.length; length > 0; length--) {
    const place = document.querySelector<HTMLElement>(
      `[data-pointer="${CSS.escape(path.slice(0, length).join("/"))}"]`,
    );
    if (!place) continue;
    place.scrollIntoView({ block: "center" });
    place.querySelector<HTMLElement>("input:not([disabled]), textarea, select")?.focus({ preventScroll: true });
    return;
  }
  document.getElementById(`section-${String(path[0])}`)?.scrollIntoView({ block: "start" });
}
