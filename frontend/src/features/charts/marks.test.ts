import { describe, expect, it } from "vitest";
import { aControl } from "@/test/control";
import { byChange, type ControlMark, flagsOf, revisionsText } from "./marks";

const mark = (id: string, x: number): ControlMark => ({ id, x, until: null, controls: [aControl({ id })] });
const ids = (marks: ControlMark[], width: number, range: [number, number] = [0, 100]) =>
  flagsOf(marks, range, width).map(flag => flag.marks.map(one => one.id));

describe("byChange", () => {
  it("puts what was made together under one change", () => {
    const made = [
      aControl({ id: "c", revision: 4, change_set: "chg" }),
      aControl({ id: "a", revision: 2 }),
      aControl({ id: "b", revision: 3, change_set: "chg" }),
    ];
    expect(byChange(made).map(change => change.map(one => one.id))).toEqual([["a"], ["b", "c"]]);
  });
});

describe("flagsOf", () => {
  const marks = [mark("a", 10), mark("c", 50), mark("b", 12)];

  it("shows marks that are close as one flag, and apart where there is room", () => {
    expect(ids(marks, 1000)).toEqual([["a", "b"], ["c"]]);
    expect(ids(marks, 2000)).toEqual([["a"], ["b"], ["c"]]);
    expect(ids(marks, 50)).toEqual([["a", "b", "c"]]);
  });

  it("leaves out what lies outside of the range, and places what is inside", () => {
    expect(ids(marks, 1000, [11, 49])).toEqual([["b"]]);
    expect(flagsOf(marks, [0, 100], 2000).map(flag => flag.left)).toEqual([200, 240, 1000]);
  });

  it("draws nothing without room, and the one step of a run that has only one", () => {
    expect(ids(marks, 0)).toEqual([]);
    expect(flagsOf([mark("a", 1)], [1, 1], 300)[0]?.left).toBe(150);
  });
});

it("names the revisions of a change", () => {
  expect(revisionsText([aControl({ revision: 3 })])).toBe("revision 3");
  expect(revisionsText([aControl({ revision: 5 }), aControl({ revision: 3 })])).toBe("revisions 3 to 5");
});
