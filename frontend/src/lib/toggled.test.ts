import { expect, it } from "vitest";
import { toggled } from "./toggled";

it("takes no more than the largest number", () => {
  expect(toggled([1, 2], 2, 2)).toEqual([1]);
  expect(toggled([1, 2], 3, 2)).toEqual([1, 2]);
  expect(toggled([1], 3, 2)).toEqual([1, 3]);
});
