import { expect, it } from "vitest";
import { placeOf, ROW_HEIGHT, rowWindow } from "./window";

const VIEW = 20 * ROW_HEIGHT;

it("draws what is in sight and a few rows beyond", () => {
  expect(rowWindow(1_000, 0, VIEW)).toEqual({ height: 36_000, scale: 1, first: 0, end: 26, top: 0 });
  expect(rowWindow(1_000, 100 * ROW_HEIGHT, VIEW)).toMatchObject({ first: 94, end: 126, top: 94 * ROW_HEIGHT });
  expect(rowWindow(3, 0, VIEW)).toMatchObject({ first: 0, end: 3 });
  expect(rowWindow(0, 0, VIEW)).toMatchObject({ height: 0, first: 0, end: 0 });
});

it("reaches the first and the last of five million rows", () => {
  const count = 5_000_000;
  expect(rowWindow(count, 0, VIEW)).toMatchObject({ height: 8_000_000, first: 0, top: 0 });
  const bottom = rowWindow(count, 8_000_000 - VIEW, VIEW);
  expect(bottom.end).toBe(count);
  expect(bottom.top + (count - bottom.first) * ROW_HEIGHT).toBeCloseTo(8_000_000, 0);
});

it("scrolls no further than it takes to see a row", () => {
  expect(placeOf(5, 1_000, 0, VIEW)).toBe(0);
  expect(placeOf(20, 1_000, 0, VIEW)).toBe(ROW_HEIGHT);
  expect(placeOf(2, 1_000, 10 * ROW_HEIGHT, VIEW)).toBe(2 * ROW_HEIGHT);
  const place = placeOf(4_000_000, 5_000_000, 0, VIEW);
  const { first, end } = rowWindow(5_000_000, place, VIEW);
  expect(first < 4_000_000 && 4_000_000 < end).toBe(true);
});
