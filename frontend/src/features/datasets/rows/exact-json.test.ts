import { expect, it } from "vitest";
import { indented, members } from "./exact-json";

const ROW =
  '{"prompt":"a, \\"b\\": {c}","n":123456789012345678901,"list":[1,{"x":-0.0}],"none":{},"é":null, "empty" : [ ]}';

it("takes an object apart and keeps each value as it is written", () => {
  expect(members(ROW)).toEqual([
    { name: "prompt", text: '"a, \\"b\\": {c}"' },
    { name: "n", text: "123456789012345678901" },
    { name: "list", text: '[1,{"x":-0.0}]' },
    { name: "none", text: "{}" },
    { name: "é", text: "null" },
    { name: "empty", text: "[ ]" },
  ]);
  expect(members("{}")).toEqual([]);
  expect(members('{"a\\\\":"\\\\"}')).toEqual([{ name: "a\\", text: '"\\\\"' }]);
});

it("indents without changing a value", () => {
  const text = indented(ROW);
  expect(text.split("\n")[2]).toBe('  "n": 123456789012345678901,');
  expect(text).toContain('"none": {},');
  expect(text).toContain('"empty": []');
  expect(JSON.parse(text)).toEqual(JSON.parse(ROW));
  expect(indented(text)).toBe(text);
  expect(indented("12")).toBe("12");
});

it("indents a row of many small parts at once", () => {
  const tests = Array.from({ length: 40_000 }, (_, number) => ({ input: [number], output: {} }));
  const json = JSON.stringify({ tests });
  const begun = performance.now();
  expect(indented(json)).toBe(JSON.stringify({ tests }, null, 2));
  expect(performance.now() - begun).toBeLessThan(2_000); // a quadratic one takes minutes
});
