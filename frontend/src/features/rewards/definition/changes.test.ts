import { expect, it } from "vitest";
import { definitionChanges } from "./changes";

const item = (name: string, weight = 1, description = "d") => ({ name, weight, description });
const rubric = (...items: ReturnType<typeof item>[]) => ({
  components: [{ name: "judge", weight: 1, grader: { type: "rubric", items } }],
});

it("finds nothing between equal definitions", () => {
  expect(definitionChanges(rubric(item("a")), rubric(item("a")))).toEqual([]);
});

it("names the item whose weight changed, wherever it stands", () => {
  const before = rubric(item("a"), item("b"));
  const after = rubric(item("new"), item("a"), item("b", -2));
  expect(definitionChanges(before, after)).toEqual([
    { path: ["components", "judge", "grader", "items", "b", "weight"], before: 1, after: -2 },
    { path: ["components", "judge", "grader", "items", "new"], before: undefined, after: item("new") },
  ]);
});

it("shows a removed item and a new order once", () => {
  const before = rubric(item("a"), item("b"), item("c"));
  const after = rubric(item("c"), item("a"));
  expect(definitionChanges(before, after)).toEqual([
    { path: ["components", "judge", "grader", "items", "b"], before: item("b"), after: undefined },
    { path: ["components", "judge", "grader", "items", "order"], before: "a, c", after: "c, a" },
  ]);
});

it("falls back to places where names are missing or double", () => {
  const before = {
    tests: [
      { name: "x", in: 1 },
      { name: "x", in: 2 },
    ],
  };
  const after = {
    tests: [
      { name: "x", in: 1 },
      { name: "x", in: 3 },
    ],
  };
  expect(definitionChanges(before, after)).toEqual([{ path: ["tests", 1, "in"], before: 2, after: 3 }]);
});
