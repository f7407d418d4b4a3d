import { describe, expect, it } from "vitest";
import type { MetricSeries } from "@/api/model";
import { align, latest, smooth, type Treatment, valueAt } from "./align";

const series = (x: number[], mean: number[], nan: number[] = []) => ({
  x,
  mean,
  min: mean.map(value => value - 1),
  max: mean.map(value => value + 1),
  raw_count: x.length,
  nan,
});

const STEPS = [1, 2, 3, 4, 5];
const means = (found: (MetricSeries | undefined)[], treatment?: Treatment) =>
  align(
    found,
    STEPS,
    found.map(() => treatment),
  ).mean;

it("places series with x values of their own on one axis, with every step of the run", () => {
  const joined = align([series([1, 2, 3], [10, 20, 30]), series([0, 2], [5, 6], [3]), undefined], [1, 2, 3]);
  expect(joined.x).toEqual([0, 1, 2, 3]);
  expect(joined.mean[0]).toEqual([null, 10, 20, 30]);
  expect(joined.mean[2]).toEqual([null, null, null, null]);
  expect(joined.min[0]).toEqual([null, 9, 19, 29]);
  expect(joined.nan).toEqual([3]);
});

describe("breaks", () => {
  it("are where a step has no value, also where no other line of the chart has a point there", () => {
    expect(means([series([1, 2, 5], [8, 8, 8])])).toEqual([[8, 8, null, null, 8]]);
  });

  it("are where a value was no number", () => {
    expect(means([series([1, 3, 4, 5], [1, 3, 4, 5], [2])])).toEqual([[1, null, 3, 4, 5]]);
  });

  it("are in the band of the extremes too", () => {
    const found = align([series([1, 4, 5], [1, 4, 5])], STEPS);
    expect([found.min, found.max]).toEqual([[[0, null, null, 3, 4]], [[2, null, null, 5, 6]]]);
  });

  it("are not between points of a rare metric, which has none at the steps between", () => {
    expect(means([series([1, 3, 5], [1, 3, 5])], { rare: true })).toEqual([[1, undefined, 3, undefined, 5]]);
    expect(means([series([1, 3, 5], [1, 3, 5])])).toEqual([[1, null, 3, null, 5]]);
  });

  it("stay where the line is smoothed", () => {
    expect(means([series([1, 2, 5], [0, 4, 4])], { smoothing: 0.5 })[0]?.slice(2, 4)).toEqual([null, null]);
  });
});

describe("latest", () => {
  it("is the value at the last step, or none: an earlier one is not it", () => {
    expect(means([series([4, 5], [0.2, 0.93]), series([3, 4], [0.1, 1])]).map(latest)).toEqual([0.93, null]);
  });

  it("is the last value of a rare metric until its next one is overdue", () => {
    const rare = (x: number[]) => latest(means([series(x, x)], { rare: true })[0] ?? []);
    expect([rare([1, 3]), rare([1]), rare([1, 2])]).toEqual([3, 1, null]);
  });

  it("is none without points", () => {
    expect(means([undefined]).map(latest)).toEqual([null]);
  });
});

it("smooths without the drag of the first value, and keeps gaps", () => {
  expect(smooth([1, 1, 1], 0.9)).toEqual([1, 1, 1]);
  expect(smooth([0, null, 3], 0.5)).toEqual([0, null, 2]);
  expect(smooth([4, 5], 0)).toEqual([4, 5]);
});

it("reads a line between its points where another run has steps, and not where it breaks or has ended", () => {
  const x = [1, 2, 3, 4, 5];
  const column = [10, undefined, 30, null, undefined];
  expect(x.map((_, place) => valueAt(x, column, place))).toEqual([10, 20, 30, null, null]);
  expect(valueAt([1, 2], [undefined, 5], 0)).toBeNull();
});

it("breaks each line at the steps of its own run", () => {
  const first = series([1, 2, 4], [1, 2, 4]);
  const second = series([2, 4], [5, 7]);
  const aligned = align([first, second], [3], [{ steps: [1, 2, 3, 4] }, { steps: [2, 4] }]);
  expect(aligned.x).toEqual([1, 2, 3, 4]);
  expect(aligned.mean).toEqual([
    [1, 2, null, 4],
    [null, 5, undefined, 7],
  ]);
});
