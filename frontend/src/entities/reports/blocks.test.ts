import { expect, it } from "vitest";
import type { ReportBlock } from "@/api/model";
import {
  chartBlock,
  duplicated,
  emptyBlock,
  inserted,
  missing,
  moved,
  removed,
  replaced,
  savable,
  spokenOf,
  textBlock,
} from "./blocks";

const RUN = { id: "run_a", name: "baseline" };
const [A, B, C] = [textBlock("a"), textBlock("b"), textBlock("c")];
const ALL: ReportBlock[] = [A, B, C];

it("moves a block to the place of another, and nowhere else", () => {
  expect(moved(ALL, A.id, 2)).toEqual([B, C, A]);
  expect(moved(ALL, C.id, 0)).toEqual([C, A, B]);
  expect(moved(ALL, A.id, -1)).toBe(ALL);
  expect(moved(ALL, A.id, 3)).toBe(ALL);
  expect(moved(ALL, "nobody", 0)).toBe(ALL);
});

it("copies a block right behind it, under an id of its own", () => {
  const found = duplicated(ALL, B.id);
  expect(found.map(block => (block.type === "text" ? block.markdown : ""))).toEqual(["a", "b", "b", "c"]);
  expect(new Set(found.map(block => block.id)).size).toBe(4);
});

it("takes a block out and puts it back where it was", () => {
  const without = removed(ALL, B.id);
  expect(without).toEqual([A, C]);
  expect(inserted(without, 1, B)).toEqual(ALL);
  expect(replaced(ALL, { ...B, markdown: "new" })[1]).toEqual({ ...B, markdown: "new" });
});

it("begins a block with the runs that were spoken of last", () => {
  const chart = chartBlock([RUN], ["critic/score/mean"]);
  expect(spokenOf([chart, A])).toEqual([RUN]);
  expect(spokenOf([A])).toEqual([]);
  expect(emptyBlock("evaluations", spokenOf([chart]))).toMatchObject({ type: "evaluations", runs: [RUN] });
});

it.each<[string, string, ReportBlock[]]>([
  ["Enter a title for the report.", " ", []],
  ["Block 2: choose at least one run.", "T", [A, chartBlock([], ["m"])]],
  ["Block 1: choose at least one metric.", "T", [chartBlock([RUN], [])]],
  ["Block 1: the minimum value must be below the maximum.", "T", [chartBlock([RUN], ["m"], { y_from: 1, y_to: 1 })]],
  ["Block 1: the x axis must start before it ends.", "T", [chartBlock([RUN], ["m"], { x_from: 2, x_to: 1 })]],
  ["Block 1: choose a sample.", "T", [emptyBlock("sample", [RUN])]],
])("says what is missing: %s", (said, title, blocks) => {
  expect(missing({ title, blocks })).toBe(said);
});

it("misses nothing in a report that says something", () => {
  expect(missing({ title: "T", blocks: [A, chartBlock([RUN], ["m"], { y_from: 0, x_to: 5 })] })).toBeNull();
});

it("saves what is whole of a text, under some title", () => {
  const whole = chartBlock([RUN], ["m"]);
  expect(savable({ title: " ", blocks: [A, chartBlock([], ["m"]), whole] })).toEqual({
    title: "Untitled report",
    blocks: [A, whole],
  });
});
