import { expect, it } from "vitest";
import { against, valueText } from "./words";

it.each([
  [0.0123, "nats", "0.0123 nats"],
  [1, "share", "100 %"],
  [0.056, "share", "5.6 %"],
  [0, "reward", "0"],
  [3, "1", "3"],
  [null, "share", "not a number"],
])("writes %s in %s", (value, unit, text) => {
  expect(valueText({ value, unit })).toBe(text);
});

it("writes usual values and bounds in the unit of the value", () => {
  const evidence = { metric: "m", title: "M", value: 1, usual: 0.7, low: null, high: 0.95 };
  expect(against({ ...evidence, unit: "share" })).toBe("usually 70 % · at most 95 %");
  expect(against({ ...evidence, unit: "nats" })).toBe("usually 0.7 · at most 0.95");
});
