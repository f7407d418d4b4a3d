import { expect, it } from "vitest";
import type { Json } from "@/api/model";
import { type Guard, guardsOf, limitWords, wouldFire } from "./replay";

const guard = (more: Partial<Guard>): Guard => ({
  type: "metric_bound",
  name: "",
  metric: "actor/entropy",
  action: "alert",
  for_steps: 1,
  ...more,
});
const STEPS = [1, 2, 3, 4, 5, 6, 7];

it("acts once per excursion, after its steps in a row", () => {
  expect(wouldFire(guard({ max: 1, for_steps: 2 }), STEPS, [2, 2, 2, 0, 2, 2, 2])).toEqual([2, 6]);
  expect(wouldFire(guard({ min: 1 }), STEPS, [1, 0, null, 0, 1, 0, 1])).toEqual([2, 6]);
});

it("compares with the mean before, and knows standing still", () => {
  const change = guard({ type: "metric_change", max_rise: 0.5, window: 3 });
  expect(wouldFire(change, STEPS, [1, 2, 3, 3, 3, 3, 9])).toEqual([7]);
  expect(wouldFire(guard({ type: "metric_stuck", for_steps: 3 }), STEPS, [0, 0, 0, 0, 1, 0, 0])).toEqual([3]);
});

it("says its limits in words", () => {
  expect(limitWords(guard({ min: 0.5, max: 2, for_steps: 3 }))).toBe("below 0.5 or above 2, for 3 steps");
  expect(limitWords(guard({ min: 0.05, for_steps: 10, unless_solved: true }))).toBe(
    "below 0.05, for 10 steps, unless solved",
  );
});

it("reads guards of a spec and nothing else", () => {
  expect(guardsOf([{ ...guard({}) } as Json, "x", null, { name: "none" }])).toEqual([guard({})]);
  expect(guardsOf(undefined)).toEqual([]);
});
