import { describe, expect, it } from "vitest";
import type { Json, Metrics, RunEvent } from "@/api/model";
import { decodeValue, livePoint, mergePoints, needsReload } from "./points";

const series = (x: number[]) => ({ x, min: x, mean: x, max: x, raw_count: x.length, nan: [] });
const DATA: Metrics = { x: "step", series: { reward: series([1, 2, 3]) } };
const event = (step: number, metrics: Record<string, Json>, more: Partial<RunEvent> = {}): RunEvent => ({
  seq: step,
  kind: "step",
  step,
  at: `2026-11-21T06:00:${String(step).padStart(2, "0")}.000Z`,
  attempt: 1,
  data: { metrics, tokens_total: step * 100, seconds: 1 },
  ...more,
});
const points = (...events: RunEvent[]) => events.map(livePoint).filter(point => point !== null);

describe("livePoint", () => {
  it("reads steps and evaluations only", () => {
    expect(livePoint(event(4, { reward: 0.5 }))).toMatchObject({ step: 4, tokens: 400, metrics: { reward: 0.5 } });
    expect(livePoint(event(4, { reward: 0.5 }, { kind: "rollouts" }))).toBeNull();
    expect(livePoint(event(0, { "eval/a": 1 }, { kind: "eval", step: 0 }))?.step).toBe(0);
  });
  it("reads the words for what JSON cannot write", () => {
    expect(decodeValue("NaN")).toBeNaN();
    expect(decodeValue("-Infinity")).toBe(-Infinity);
  });
});

describe("mergePoints", () => {
  it("appends new points and leaves the old document as it was", () => {
    const merged = mergePoints(DATA, points(event(4, { reward: 0.5 }), event(5, { reward: 0.6 })), 0);
    expect(merged.series.reward?.x).toEqual([1, 2, 3, 4, 5]);
    expect(merged.series.reward?.raw_count).toBe(5);
    expect(DATA.series.reward?.x).toEqual([1, 2, 3]);
  });

  it("leaves out what the query has seen already", () => {
    const merged = mergePoints(DATA, points(event(2, { reward: 9 }), event(3, { reward: 9 })), 0);
    expect(merged).toBe(DATA);
  });

  it("draws a repeated frame once", () => {
    const once = mergePoints(DATA, points(event(4, { reward: 0.5 })), 0);
    expect(mergePoints(once, points(event(4, { reward: 0.5 })), 0)).toBe(once);
  });

  it("begins series that appear later", () => {
    expect(mergePoints(DATA, points(event(4, { entropy: 1.2 })), 0).series.entropy?.mean).toEqual([1.2]);
  });

  it("keeps values that are no numbers as marks, and counts them as seen", () => {
    const merged = mergePoints(DATA, points(event(4, { reward: "NaN" })), 0);
    expect(merged.series.reward?.nan).toEqual([4]);
    expect(merged.series.reward?.x).toEqual([1, 2, 3, 4]);
    expect(merged.series.reward?.mean.at(-1)).toBeNull();
    expect(mergePoints(merged, points(event(4, { reward: "NaN" })), 0)).toBe(merged);
  });

  it("places points on the axis of seconds and of tokens", () => {
    const empty = (x: Metrics["x"]): Metrics => ({ x, series: {} });
    const origin = Date.parse("2026-11-21T06:00:00.000Z");
    expect(mergePoints(empty("time"), points(event(7, { reward: 1 })), origin).series.reward?.x).toEqual([7]);
    expect(mergePoints(empty("tokens"), points(event(7, { reward: 1 })), origin).series.reward?.x).toEqual([700]);
    for (const x of ["cost", "gpu_hours"] as const)
      expect(mergePoints(empty(x), points(event(7, { reward: 1 })), origin)).toEqual(empty(x));
  });
});

it("asks the platform again when a new attempt begins", () => {
  expect(needsReload(points(event(4, {})), 1)).toBe(false);
  expect(needsReload(points(event(4, {}, { attempt: 2 })), 1)).toBe(true);
});
