import { describe, expect, it } from "vitest";
import { diff, errorsAt, fromPointer, getIn, same, setIn, toPointer } from "./pointer";

it("writes and reads pointers with their escapes", () => {
  expect(toPointer(["data", "sources", 0, "a/b~c"])).toBe("/data/sources/0/a~1b~0c");
  expect(fromPointer("/data/sources/0/a~1b~0c")).toEqual(["data", "sources", "0", "a/b~c"]);
  expect(fromPointer("")).toEqual([]);
});

it("sets deep values and shares the rest", () => {
  const before = { a: { b: [1, 2] }, c: { d: 1 } };
  const after = setIn(before, ["a", "b", 1], 5) as typeof before;
  expect(after).toEqual({ a: { b: [1, 5] }, c: { d: 1 } });
  expect(after.c).toBe(before.c);
  expect(getIn(after, ["a", "b", "1"])).toBe(5);
  expect(getIn(after, ["a", "x", "y"])).toBeUndefined();
});

describe("diff", () => {
  it("names the smallest parts that differ", () => {
    expect(diff({ a: 1, b: { c: 2, d: 3 } }, { a: 1, b: { c: 4, d: 3 } })).toEqual([
      { path: ["b", "c"], before: 2, after: 4 },
    ]);
  });
  it("takes lists of another length as a whole", () => {
    expect(diff({ a: [1] }, { a: [1, 2] })).toEqual([{ path: ["a"], before: [1], after: [1, 2] }]);
  });
  it("finds nothing between equal documents, whatever the order of their keys", () => {
    expect(diff({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toEqual([]);
    expect(same({ a: undefined as never }, {})).toBe(true);
  });
});

it("sets names of prototypes in the copy alone", () => {
  for (const name of ["__proto__", "constructor"]) {
    setIn({}, [name, "polluted"], true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  }
});

it("tells the faults of a field from those of its parts", () => {
  const errors = [
    { pointer: "/data", detail: "whole" },
    { pointer: "/data/sources/0/name", detail: "part" },
    { pointer: "/database", detail: "other" },
  ];
  expect(errorsAt(errors, ["data"]).map(one => one.detail)).toEqual(["whole"]);
  expect(errorsAt(errors, ["data"], true).map(one => one.detail)).toEqual(["whole", "part"]);
});
