import { expect, it } from "vitest";
import { isEmpty, noteCondition, noteValue, numberFault, rowQuery, tagsFault, unread, withNote } from "./query";

const TYPES = new Map([
  ["difficulty.pass_rate", "number"],
  ["suspect.answer", "string"],
  ["suspect.suspect", "boolean"],
]);

it("asks for what the address names, and for nothing where it makes no sense", () => {
  expect(isEmpty(rowQuery({}))).toBe(true);
  expect(isEmpty(rowQuery({ q: "?!", tags: "level", notes: "difficulty" }))).toBe(true);
  expect(rowQuery({ q: '"how many"', min: 3, tags: "level=2, a=b=c", notes: "suspect.suspect:true" })).toEqual({
    text: '"how many"',
    min_length: 3,
    tags: ["level=2", "a=b=c"],
    notes: [{ notes: "suspect", column: "suspect", equals: true }],
  });
});

it("reads conditions on notes", () => {
  const rate = { notes: "difficulty", column: "pass_rate" };
  const read = (value: string) => noteCondition(`difficulty.pass_rate:${value}`, TYPES);
  expect(read("0.2..0.8")).toEqual({ ...rate, least: 0.2, most: 0.8 });
  expect(read("0.2 .. 0.8")).toEqual({ ...rate, least: 0.2, most: 0.8 });
  expect(read("1e-3..0.5")).toEqual({ ...rate, least: 0.001, most: 0.5 });
  expect(read("..0.8")).toEqual({ ...rate, least: null, most: 0.8 });
  expect(read("..")).toEqual({ ...rate, least: null, most: null });
  expect(read("0.25")).toEqual({ ...rate, equals: 0.25 });
  expect(["0.2..0.5.1", "0.2..0.5..1", "often", "0x1", ""].map(read)).toEqual([null, null, null, null, null]);
  expect(noteCondition("duplicates.cluster:17")).toEqual({ notes: "duplicates", column: "cluster", equals: 17 });
  expect(noteCondition("statistics.language:de")).toEqual({ notes: "statistics", column: "language", equals: "de" });
  expect(noteCondition("suspect.answer:17", TYPES)).toEqual({ notes: "suspect", column: "answer", equals: "17" });
  expect(noteCondition("suspect.suspect:maybe", TYPES)).toBeNull();
  expect(noteCondition("statistics.language:")).toBeNull();
});

it("tells what it cannot read, rather than to ask for more than was meant", () => {
  const filters = { tags: "level:3, source=gsm8k", notes: "difficulty.pass_rate:0%2C2..0%2C8,suspect.suspect:true" };
  expect(unread(filters, TYPES)).toEqual(["level:3", "difficulty.pass_rate:0,2..0,8"]);
  expect(tagsFault(filters.tags)).toContain('"level:3"');
  expect([tagsFault("a=b, c=d"), numberFault(" "), numberFault("0.5")]).toEqual([null, null, null]);
  expect(numberFault("0,2..0,8")).toContain("Invalid");
});

it("replaces the condition on one column and leaves the others", () => {
  const both = withNote("suspect.suspect:true", "difficulty.pass_rate", "0..0.5");
  expect(both).toBe("suspect.suspect:true,difficulty.pass_rate:0..0.5");
  expect(noteValue(both, "difficulty.pass_rate")).toBe("0..0.5");
  expect(withNote(both, "suspect.suspect", "")).toBe("difficulty.pass_rate:0..0.5");
  expect(withNote("suspect.suspect:true", "suspect.suspect", "")).toBeUndefined();
  const text = withNote(undefined, "suspect.answer", "50 %, or so");
  expect(noteValue(text, "suspect.answer")).toBe("50 %, or so");
  expect(rowQuery({ notes: text }).notes).toEqual([{ notes: "suspect", column: "answer", equals: "50 %, or so" }]);
});
