import { expect, it } from "vitest";
import { tries, tryTitle, type Try } from "./row-tries";

const one = (step: number, right: number, graded = 4): Try => ({
  step,
  right,
  graded,
  reward: graded ? right / graded : null,
  ordinal: null,
  fate: null,
  reason: null,
});

it("places tries by step and by the share that was right", () => {
  const found = tries([one(2, 0), one(4, 4), one(6, 2), one(6, 0, 0)], 108, 28);
  expect(found.map(({ x, y }) => [x, y])).toEqual([
    [4, 24],
    [54, 4],
    [104, 14],
    [104, 24],
  ]);
  expect(new Set(found.map(({ key }) => key)).size).toBe(4);
});

it("places a single try in the middle", () => {
  expect(tries([one(9, 4)], 108, 28)[0]).toMatchObject({ x: 54, y: 4 });
  expect(tries([], 108, 28)).toEqual([]);
});

it("says what came of a try", () => {
  expect(tryTitle(one(3, 1))).toBe("Step 3: 1 of 4 correct, mean reward 0.25");
  expect(tryTitle(one(3, 0, 0))).toBe("Step 3: no sample could be graded");
  expect(tryTitle({ ...one(3, 1), ordinal: 7, fate: "trained" })).toBe(tryTitle(one(3, 1)));
  expect(tryTitle({ ...one(3, 4), ordinal: 7, fate: "rejected", reason: "zero_advantage" })).toBe(
    "Step 3: 4 of 4 correct, mean reward 1; rejected by zero_advantage",
  );
  expect(tryTitle({ ...one(3, 0, 0), ordinal: 7, fate: "dropped", reason: "reward_error" })).toBe(
    "Step 3: no sample could be graded; dropped: reward_error",
  );
});
