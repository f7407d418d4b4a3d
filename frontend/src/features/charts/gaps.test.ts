import { describe, expect, it } from "vitest";
import type { MetricSeries } from "@/api/model";
import { align } from "./align";
import { reach, stepAt, stepsOf } from "./gaps";

const series = (x: number[], nan: number[] = []): MetricSeries => {
  const values = x.map(() => 8);
  return { x, min: values, mean: values, max: values, raw_count: x.length, nan };
};
const every = (from: number, to: number, by = 1) =>
  Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by);

it("takes the steps of the run from its most complete metric", () => {
  expect(stepsOf({ budget: series([1, 4]), reward: series([2, 4, 5]) })).toEqual([2, 4, 5]);
  expect(stepsOf({})).toEqual([]);
});

it("does not take the place of a value that is no number for a step between two buckets", () => {
  const thinned = series([7, 15, 23, 31], [9, 10, 18]);
  expect(stepsOf({ reward: thinned })).toEqual([7, 15, 23, 31]);
  expect(gaps(thinned, stepsOf({ reward: thinned }), false)).toEqual([]);
});

it("gives a point between two steps to the later one", () => {
  expect([0, 4, 5, 8, 9].map(x => stepAt([4, 8], x))).toEqual([0, 0, 1, 1, 2]);
});

describe("reach", () => {
  it("is one step for a metric of every step, however rarely it comes", () => {
    expect(reach([5, 495], false)).toBe(1);
  });
  it("is one step more than the cadence of a rare metric", () => {
    expect(reach([0, 10, 20, 40, 43], true)).toBe(11);
    expect(reach([0], true)).toBe(Number.POSITIVE_INFINITY);
  });
});

/** Where the line is interrupted: x of the last point before and of the first one after. */
function gaps(one: MetricSeries, steps: number[], rare: boolean): [number, number][] {
  const { x, mean } = align([one], steps, [{ rare }]);
  return one.x.slice(1).flatMap((to, index): [number, number][] => {
    const from = one.x[index] as number;
    const between = (mean[0] ?? []).slice(x.indexOf(from) + 1, x.indexOf(to));
    return between.includes(null) ? [[from, to]] : [];
  });
}

describe("a run of 500 steps", () => {
  const steps = every(1, 500);
  it("has no budget over the steps in which none was in force", () => {
    expect(gaps(series([...every(1, 5), ...every(496, 500)]), steps, false)).toEqual([[5, 496]]);
  });
  it("joins evaluations of every tenth step, and the last one", () => {
    expect(gaps(series([0, ...every(10, 490, 10), 495]), steps, true)).toEqual([]);
  });
  it("breaks where an evaluation is missing", () => {
    expect(gaps(series([...every(10, 100, 10), ...every(120, 200, 10)]), steps, true)).toEqual([[100, 120]]);
  });
  it("breaks nothing on an axis of seconds, where steps differ in length", () => {
    const seconds = steps.map(step => step + (step > 250 ? 3600 : 0) + 0.5 * (step % 3));
    expect(gaps(series(seconds), seconds, false)).toEqual([]);
  });
});

describe("a run of 4800 steps in buckets of eight", () => {
  const steps = every(7, 4799, 8);
  it("is whole where every bucket has a value, also where its last step has none", () => {
    expect(gaps(series([7, 13, 18, 31]), steps, false)).toEqual([]);
  });
  it("breaks where a bucket has none", () => {
    expect(gaps(series([7, 15, 31]), steps, false)).toEqual([[15, 31]]);
  });
  it("joins evaluations of every tenth step, which skip buckets", () => {
    expect(gaps(series(every(10, 4790, 10)), steps, true)).toEqual([]);
  });
});
