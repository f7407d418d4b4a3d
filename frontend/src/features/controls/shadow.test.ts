import { expect, it } from "vitest";
import type { Metrics } from "@/api/model";
import { addable, refsOf, shadowFacts, shadowKeys } from "./shadow";

const series = (x: number[], mean: (number | null)[]) => ({
  x,
  mean,
  min: mean,
  max: mean,
  nan: [],
  raw_count: x.length,
});
const DATA = {
  x: "step",
  series: {
    "reward_shadow/math@2/mean": series([1, 2, 3], [0.2, 0.4, null]),
    "reward_shadow/math@2/agreement": series([1, 2], [0.9, 0.8]),
  },
} as unknown as Metrics;

it("reads the newest value of each metric, and knows what is not known", () => {
  expect(shadowFacts("math@2", DATA)).toEqual({ mean: 0.4, agreement: 0.8, correlation: null, errors: null, step: 3 });
  expect(shadowFacts("math@3", DATA).mean).toBeNull();
  expect(shadowFacts("math@2", undefined).step).toBeNull();
});

it("asks for every metric of every shadow", () => {
  expect(shadowKeys(["a@1"])).toEqual([
    "reward_shadow/a@1/mean",
    "reward_shadow/a@1/agreement",
    "reward_shadow/a@1/correlation",
    "reward_shadow/a@1/errors",
  ]);
});

it("offers what is neither training nor in the shadow, up to four", () => {
  expect(addable(["a@1", "a@2", "b@1"], ["a@2"], "a@1")).toEqual(["b@1"]);
  expect(addable(["a@1", "a@2"], ["b@1", "b@2", "b@3", "b@4"], "a@1")).toEqual([]);
  expect(refsOf(["a@1", 3, null])).toEqual(["a@1"]);
  expect(refsOf(null)).toEqual([]);
});
