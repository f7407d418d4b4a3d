import { expect, it } from "vitest";
import { interpolate } from "./interpolate";

it("interpolates between known points, and not beyond them", () => {
  expect(interpolate([1, 3], [10, 30], 2)).toBe(20);
  expect(interpolate([1, 3], [10, 30], 3)).toBe(30);
  expect(interpolate([1, 3], [10, 30], 4)).toBeNull();
  expect(interpolate([], [], 1)).toBeNull();
});
