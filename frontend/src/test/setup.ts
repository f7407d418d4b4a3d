/** What Mantine asks of a browser and happy-dom does not have. */
import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

class NoResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

window.ResizeObserver ??= NoResizeObserver as unknown as typeof ResizeObserver;
// Text areas that grow with their text measure again when fonts have come.
if (!document.fonts) Object.defineProperty(document, "fonts", { value: new EventTarget() });
window.HTMLElement.prototype.scrollIntoView = () => {};
afterEach(cleanup);
