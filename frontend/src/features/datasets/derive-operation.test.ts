import { expect, it } from "vitest";
import { deriveBody, EMPTY, isComplete } from "./derive-operation";

it("asks for a filter with the conditions that were given, and for no others", () => {
  expect(isComplete(EMPTY)).toBe(false);
  const fields = { ...EMPTY, text: " horses ", tags: "level=3, source=gsm8k,", minLength: 0 };
  expect(isComplete(fields)).toBe(true);
  expect(deriveBody(fields, true)).toEqual({
    operation: { name: "filter", query: { text: "horses", tags: ["level=3", "source=gsm8k"], min_length: 0 } },
    into: null,
    dry_run: true,
  });
});

it("asks for whole answers, and for the sums of fractions unless they are left out", () => {
  const fields = { ...EMPTY, kind: "integers" as const, sentence: " Give m + n. " };
  expect(isComplete(fields)).toBe(true);
  expect(deriveBody(fields, true).operation).toEqual({ name: "integers", fractions: "sum", sentence: "Give m + n." });
  expect(isComplete({ ...fields, sentence: " " })).toBe(false);
  const without = { ...fields, sentence: "", askForSum: false };
  expect(isComplete(without)).toBe(true);
  expect(deriveBody(without, false).operation).toEqual({ name: "integers", fractions: "leave_out" });
});

it("asks for a split into train and test", () => {
  const fields = { ...EMPTY, kind: "split" as const, testPercent: 25, name: "Held out" };
  expect(deriveBody(fields, false)).toEqual({
    operation: {
      name: "split",
      shares: [
        { name: "train", share: 0.75 },
        { name: "test", share: 0.25 },
      ],
    },
    into: { name: "Held out" },
    dry_run: false,
  });
  expect(isComplete({ ...fields, testPercent: 100 })).toBe(false);
});
