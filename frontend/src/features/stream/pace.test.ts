// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { paced, type Rhythm } from "./pace";

let taken: number[][];
let cost: number;
/** A page whose drawing takes `cost` milliseconds. */
const rhythm: Rhythm = { now: () => Date.now(), drawn: then => window.setTimeout(then, cost) };

beforeEach(() => {
  vi.useFakeTimers();
  taken = [];
  cost = 100;
});

afterEach(() => void vi.useRealTimers());

test("takes the first at once and the rest together, in order, after twice the time that drawing took", () => {
  const pace = paced<number>(all => taken.push(all), rhythm);
  pace.add(1);
  expect(taken).toEqual([[1]]);
  pace.add(2);
  vi.advanceTimersByTime(150);
  pace.add(3);
  vi.advanceTimersByTime(149);
  expect(taken).toEqual([[1]]);
  vi.advanceTimersByTime(1);
  expect(taken).toEqual([[1], [2, 3]]);
});

test("takes one at once again after a rest", () => {
  const pace = paced<number>(all => taken.push(all), rhythm);
  pace.add(1);
  vi.advanceTimersByTime(300);
  pace.add(2);
  expect(taken).toEqual([[1], [2]]);
});

test("lets nothing wait for longer than two seconds behind a drawing", () => {
  cost = 5000;
  const pace = paced<number>(all => taken.push(all), rhythm);
  pace.add(1);
  pace.add(2);
  vi.advanceTimersByTime(6999);
  expect(taken).toEqual([[1]]);
  vi.advanceTimersByTime(1);
  expect(taken).toEqual([[1], [2]]);
});

test("hands over nothing after it was stopped", () => {
  const pace = paced<number>(all => taken.push(all), rhythm);
  pace.add(1);
  pace.add(2);
  pace.stop();
  pace.add(3);
  vi.advanceTimersByTime(10_000);
  expect(taken).toEqual([[1]]);
});

test("waits for a real frame to be drawn", () => {
  vi.spyOn(window, "requestAnimationFrame").mockImplementation(then => window.setTimeout(() => then(0), 16));
  const pace = paced<number>(all => taken.push(all));
  pace.add(1);
  pace.add(2);
  vi.advanceTimersByTime(15);
  expect(taken).toEqual([[1]]);
  vi.advanceTimersByTime(100);
  expect(taken).toEqual([[1], [2]]);
});

test("goes on in a window that draws no frames", () => {
  vi.spyOn(window, "requestAnimationFrame").mockReturnValue(0);
  const pace = paced<number>(all => taken.push(all));
  pace.add(1);
  pace.add(2);
  vi.advanceTimersByTime(4000);
  expect(taken).toEqual([[1], [2]]);
});
