import { expect, it } from "vitest";
import { align, interpolate, smooth } from "./align";

const series = (x: number[], mean: number[], nan: number[] = []) => ({
  x,
  mean,
  min: mean.map(value => value - 1),
  max: mean.map(value => value + 1),
  raw_count: x.length,
  nan,
});

it("joins series with x values of their own", () => {
  const joined = align([series([1, 2, 3], [10, 20, 30]), series([0, 2], [5, 6], [3]), undefined]);
  expect(joined.x).toEqual([0, 1, 2, 3]);
  expect(joined.mean).toEqual([
    [null, 10, 20, 30],
    [5, null, 6, null],
    [null, null, null, null],
  ]);
  expect(joined.min[0]).toEqual([null, 9, 19, 29]);
  expect(joined.nan).toEqual([3]);
});

it("smooths without the drag of the first value, and keeps gaps", () => {
  expect(smooth([1, 1, 1], 0.9)).toEqual([1, 1, 1]);
  expect(smooth([0, null, 3], 0.5)).toEqual([0, null, 2]);
  expect(smooth([4, 5], 0)).toEqual([4, 5]);
});

it("interpolates between known points, and not beyond them", () => {
  expect(interpolate([1, 3], [10, 30], 2)).toBe(20);
  expect(interpolate([1, 3], [10, 30], 3)).toBe(30);
  expect(interpolate([1, 3], [10, 30], 4)).toBeNull();
  expect(interpolate([], [], 1)).toBeNull();
});
