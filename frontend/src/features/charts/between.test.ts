import { expect, it } from "vitest";
import type uPlot from "uplot";
import { between } from "./options";

const fit = () => [1, 4] as [number, number];
const range = (ends: [number | null, number | null] | undefined, log = false) =>
  between(fit, ends, log)({} as uPlot, 1, 4);

it("takes the ends that are given, where they leave something to draw", () => {
  expect(range(undefined)).toEqual([1, 4]);
  expect(range([0, null])).toEqual([0, 4]);
  expect(range([null, 2])).toEqual([1, 2]);
  expect(range([5, null])).toEqual([1, 4]);
  expect(range([0, 10], true)).toEqual([1, 10]);
});
