import { describe, expect, it } from "vitest";
import type { Control, Run } from "@/api/model";
import { aControl } from "@/test/control";
import { compareRuns, mergeControl, withControl, withUpdate } from "./merge";

const RUN = { id: "run_1", state: "running", attempt: 2, revision: 5, step: 10 } as Run;

describe("compareRuns", () => {
  it.each([
    ["a later attempt, though it begins at an earlier step", { attempt: 3, revision: 5, step: 4 }, 1],
    ["a later revision", { attempt: 2, revision: 6, step: 10 }, 1],
    ["a later step", { attempt: 2, revision: 5, step: 11 }, 1],
    ["an earlier attempt, though it came further", { attempt: 1, revision: 5, step: 90 }, -1],
    ["an earlier step", { attempt: 2, revision: 5, step: 9 }, -1],
    ["equal numbers", { attempt: 2, revision: 5, step: 10 }, 0],
    ["a part that has one of the numbers", { revision: 4 }, -1],
    ["a part without numbers", {}, 0],
  ])("tells by %s", (_, update, order) => {
    expect(Math.sign(compareRuns(update, RUN))).toBe(order);
    expect(Math.sign(compareRuns(RUN, update))).toBe(-order + 0);
  });
});

it("takes an update of a run unless its numbers are older, whatever the state", () => {
  expect(withUpdate(RUN, { state: "paused" })).toEqual({ ...RUN, state: "paused" });
  expect(withUpdate({ ...RUN, state: "paused" }, { state: "running", step: 10 }).state).toBe("running");
  expect(withUpdate(RUN, { state: "succeeded", step: 9 })).toBe(RUN);
});

it("puts a control in the place of its older self, newest revision first", () => {
  const [first, second] = [aControl({ id: "a", revision: 1 }), aControl({ id: "b", revision: 2 })];
  const list = { data: [second, first], next: null };
  expect(withControl(list, { ...first, state: "settled" })).toEqual({
    data: [second, { ...first, state: "settled" }],
    next: null,
  });
  expect(withControl(list, aControl({ id: "c", revision: 3 })).data.map(one => one.id)).toEqual(["c", "b", "a"]);
});

it("lets the stream's word on a control stand before the answer that made it", () => {
  const told =
    (controls: Control[]) =>
    <T>() =>
      controls as unknown as T[];
  const [made, applied] = [aControl({ state: "staged" }), aControl({ state: "applied" })];
  expect(mergeControl("run_1", made, told([aControl({ id: "ctl_9" }), applied]))).toBe(applied);
  expect(mergeControl("run_1", made, told([]))).toBe(made);
});
