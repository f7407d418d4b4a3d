import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import type { Control, List, Run } from "@/api/model";
import { aControl } from "@/test/control";
import { renderWith } from "@/test/render";
import { ENDED, MAY_NOT, STEERING, STEPS } from "./steps";
import { Tour } from "./Tour";

let operator = true;
vi.mock("@/features/session/session", () => ({ useCan: () => operator }));

const RUN = { id: "run_1", state: "running", step: 9 } as Run;
const list = (...revisions: number[]): List<Control> =>
  ({ object: "list", data: revisions.map(revision => aControl({ id: `ctl_${revision}`, revision })) }) as List<Control>;
const onGo = vi.fn();
const tour = (at: number, run = RUN) => (
  <>
    <section data-testid="phase-strip" />
    <section data-testid="control-rail" />
    <Tour run={run} at={at} onGo={onGo} />
  </>
);

beforeEach(() => {
  operator = true;
  onGo.mockClear();
  window.localStorage.clear();
  Element.prototype.scrollIntoView = vi.fn();
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(list(1)))));
});

it("marks what it speaks of, and takes the mark away", () => {
  const view = renderWith(tour(1));
  const strip = screen.getByTestId("phase-strip");
  expect(strip.getAttribute("data-tour")).toBe("here");
  expect(document.activeElement).toBe(screen.getByRole("dialog", { name: STEPS[0]?.title }));
  view.update(tour(STEERING));
  expect(strip.hasAttribute("data-tour")).toBe(false);
  // The knob of the budget is not there: the next best place.
  expect(screen.getByTestId("control-rail").getAttribute("data-tour")).toBe("here");
  view.unmount();
  expect(document.querySelector("[data-tour]")).toBeNull();
});

it("goes on and back, each step with its tab", async () => {
  const view = renderWith(tour(2));
  await userEvent.click(screen.getByRole("button", { name: "Next" }));
  expect(onGo).toHaveBeenLastCalledWith(3, "rollouts");
  view.update(tour(3));
  await userEvent.click(screen.getByRole("button", { name: "Back" }));
  expect(onGo).toHaveBeenLastCalledWith(2, undefined);
});

it("goes on by itself once a control has been made, and not for those made before", async () => {
  const { client } = renderWith(tour(STEERING));
  await waitFor(() => expect(client.getQueryData(["run", "run_1", "controls"])).toBeDefined());
  expect(onGo).not.toHaveBeenCalled();
  client.setQueryData(["run", "run_1", "controls"], list(1, 2));
  await waitFor(() => expect(onGo).toHaveBeenCalledExactlyOnceWith(STEERING + 1, undefined));
});

it("ends where it is closed, left by Escape or done, and is not offered again", async () => {
  renderWith(tour(STEPS.length));
  await userEvent.click(screen.getByRole("button", { name: "Done" }));
  expect(onGo).toHaveBeenLastCalledWith(undefined, undefined);
  expect(window.localStorage.getItem("dressage.tour-seen")).toBe("true");
  screen.getByRole("dialog").focus();
  await userEvent.keyboard("{Escape}");
  expect(onGo).toHaveBeenCalledTimes(2);
});

it("says why a run cannot be steered", () => {
  const view = renderWith(tour(STEERING, { ...RUN, state: "succeeded" }));
  expect(screen.getByText(ENDED)).toBeDefined();
  operator = false;
  view.update(tour(STEERING));
  expect(screen.getByText(MAY_NOT)).toBeDefined();
});

it.each([
  [0, 1],
  [99, STEPS.length],
  [2.7, 2],
])("takes step %s of an address for step %s", (at, shown) => {
  renderWith(tour(at));
  expect(screen.getByText(`Step ${shown} of ${STEPS.length}`)).toBeDefined();
});
