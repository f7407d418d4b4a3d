import { expect, it } from "vitest";
import type { DatasetRow } from "@/api/model";
import { fromRow, isObjectText, readLines, toBody } from "./samples";

it("reads lines of samples, with or without a number of tokens", () => {
  const text =
    '{"output_text": "4", "item": {"answer": "4"}}\n\n{"output_text": "5", "item": {}, "completion_tokens": 3}\n';
  expect(readLines(text)).toEqual({
    samples: [
      { output_text: "4", item: '{"answer":"4"}', tokens: "" },
      { output_text: "5", item: "{}", tokens: 3 },
    ],
    fault: null,
  });
});

it("says which line is wrong and keeps those before it", () => {
  const good = '{"output_text": "4", "item": {}}';
  expect(readLines(`${good}\nnot json`)).toMatchObject({
    samples: [{ output_text: "4" }],
    fault: { line: 2, reason: "is not a JSON object" },
  });
  expect(readLines('{"item": {}}').fault).toEqual({ line: 1, reason: "has no output_text" });
  expect(readLines('{"output_text": "", "item": []}').fault?.reason).toContain("has no item");
});

it("sends the number of tokens only where one was given", () => {
  expect(toBody({ output_text: "4", item: '{"a": 1}', tokens: "" })).toEqual({ output_text: "4", item: { a: 1 } });
  expect(toBody({ output_text: "4", item: "{}", tokens: 0 })).toEqual({
    output_text: "4",
    item: {},
    completion_tokens: 0,
  });
});

it("starts a row with its reference answer", () => {
  const made = fromRow({
    index: 0,
    prompt: "1+1=",
    answer: "2",
    row: { prompt: "1+1=", answer: "2" },
  } as unknown as DatasetRow);
  expect(made.output_text).toBe("<think></think>2");
  expect(isObjectText(made.item)).toBe(true);
  expect(isObjectText("[]")).toBe(false);
});
