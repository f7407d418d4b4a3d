import { expect, it, vi } from "vitest";
import type { Metrics, Run } from "@/api/model";
import { originOf, shifted, placesOf, shiftQuery } from "./lineage";

const child = (step: number | null, continues: boolean) =>
  ({ parent: { run: "run_p", name: "parent", step, continues } }) as Run;

it("knows no origin of a run without a parent, or of one that took no checkpoint", () => {
  expect(originOf({ parent: null } as Run)).toBeNull();
  expect(originOf(child(null, false))).toBeNull();
  expect(originOf(child(4, true))).toEqual({ run: "run_p", name: "parent", step: 4, continues: true });
});

it("does not move a fork on axes that it counts on, and moves a new run by the checkpoint's step", async () => {
  const by = (continues: boolean, x: "step" | "tokens") => {
    const { queryFn } = shiftQuery({ run: "run_p", name: "parent", step: 4, continues }, x);
    return (queryFn as (context: object) => Promise<number | null>)({ signal: new AbortController().signal });
  };
  expect(await by(true, "step")).toBe(0);
  expect(await by(true, "tokens")).toBe(0);
  expect(await by(false, "step")).toBe(4);
});

it("moves a fork by what its parent had cost at the checkpoint", async () => {
  const series = (x: number[]) => ({ "critic/score/mean": { x, mean: x, min: x, max: x, raw_count: 3, nan: [] } });
  vi.stubGlobal("fetch", (url: string) =>
    Promise.resolve(Response.json({ series: series(url.includes("x=cost") ? [0.5, 2.5, 3] : [2, 4, 6]) })),
  );
  const { queryFn } = shiftQuery({ run: "run_p", name: "parent", step: 4, continues: true }, "cost");
  const read = queryFn as (context: object) => Promise<number | null>;
  expect(await read({ signal: new AbortController().signal })).toBe(2.5);
});

it("moves points and what was no number alike, and values not at all", () => {
  const data: Metrics = {
    x: "step",
    series: { loss: { x: [1, 2], mean: [5, 6], min: [5, 6], max: [5, 6], raw_count: 2, nan: [3] } },
  };
  expect(shifted(data, 10).series.loss).toEqual({
    x: [11, 12],
    mean: [5, 6],
    min: [5, 6],
    max: [5, 6],
    raw_count: 2,
    nan: [13],
  });
  expect(shifted(data, 0)).toBe(data);
});

it("finds the steps of a run by the metric that its objective reports", () => {
  const one = (x: number[]) => ({ x, mean: x, min: x, max: x, raw_count: x.length, nan: [] });
  expect(placesOf({ series: { "critic/score/mean": one([]), "sft/loss": one([1, 2]) } })).toEqual([1, 2]);
  expect(placesOf({ series: { "preference/loss": one([3]) } })).toEqual([3]);
  expect([placesOf(undefined), placesOf({ series: { "actor/lr": one([1]) } })]).toEqual([[], []]);
});
