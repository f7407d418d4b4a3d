import { fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderWith } from "@/test/render";
import { focusControls } from "./focus";
import { useShortcuts } from "./shortcuts";

const runs = vi.fn();
const create = vi.fn();
const help = vi.fn();
const COMMANDS = [
  { keys: "g r", label: "Go to runs", run: runs },
  { keys: "n", label: "New run", run: create },
];

function Page({ enabled = true }: { enabled?: boolean }) {
  useShortcuts(COMMANDS, enabled, help);
  return <input aria-label="Name" />;
}

beforeEach(() => vi.clearAllMocks());
afterEach(() => vi.restoreAllMocks());

const press = (key: string, at: Element | Window = window, more = {}) => fireEvent.keyDown(at, { key, ...more });

it("carries out what one key or two keys stand for", () => {
  renderWith(<Page />);
  press("n");
  expect(create).toHaveBeenCalledOnce();
  press("g");
  expect(runs).not.toHaveBeenCalled();
  press("r");
  expect(runs).toHaveBeenCalledOnce();
  press("?");
  expect(help).toHaveBeenCalledOnce();
});

it("takes keys that follow late for keys of their own", () => {
  renderWith(<Page />);
  press("r");
  press("g");
  press("x");
  press("r");
  expect(runs).not.toHaveBeenCalled();
});

it("does nothing while somebody types, holds a modifier, or has switched it off", () => {
  const view = renderWith(<Page />);
  press("n", screen.getByLabelText("Name"));
  press("n", window, { ctrlKey: true });
  view.update(<Page enabled={false} />);
  press("n");
  press("?");
  expect(create).not.toHaveBeenCalled();
  expect(help).not.toHaveBeenCalled();
});

it("leaves the keys to an open dialog", () => {
  renderWith(
    <>
      <Page />
      <div role="dialog" />
    </>,
  );
  press("n");
  expect(create).not.toHaveBeenCalled();
});

it("focuses the field of a path, the first control without one, and says when there is none", () => {
  expect(focusControls("loss.ratio_max")).toBe(false);
  renderWith(
    <div data-testid="control-rail">
      <button>Pause</button>
      <div data-targets="thinking.budget loss.ratio_max">
        <input aria-label="Upper edge" />
      </div>
    </div>,
  );
  expect(focusControls("loss.ratio_max")).toBe(true);
  expect(document.activeElement).toBe(screen.getByLabelText("Upper edge"));
  expect(focusControls("loss.ratio")).toBe(false);
  expect(focusControls()).toBe(true);
  expect(document.activeElement).toBe(screen.getByText("Pause"));
});
