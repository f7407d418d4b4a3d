import { describe, expect, it } from "vitest";
import type { RunEvent } from "@/api/model";
import { addSteps, SHOWN_STEPS, stepSpans } from "./timeline";

function event(step: number, timeline: unknown, attempt = 1): RunEvent {
  return { seq: step, kind: "step", step, attempt, at: "2026-01-01T00:00:00Z", data: { timeline } } as RunEvent;
}
const span = (lane: string, start: number, end: number, phase = "generate") => ({ lane, phase, start, end });

describe("stepSpans", () => {
  it("reads spans and leaves out what is none", () => {
    const found = stepSpans(event(3, [span("engine-0", 1, 2), { lane: "x" }, span("learner", 5, 4, "learn")]));
    expect(found?.spans).toEqual([
      { lane: "engine-0", phase: "generate", start: 1, end: 2, step: 3 },
      { lane: "learner", phase: "learn", start: 5, end: 5, step: 3 },
    ]);
  });
  it("is null without a timeline", () => {
    expect(stepSpans(event(3, undefined))).toBeNull();
  });
});

describe("addSteps", () => {
  const steps = (from: number, to: number, attempt = 1) =>
    Array.from({ length: to - from + 1 }, (_, index) => ({ attempt, step: from + index, spans: [] }));
  it("keeps the last ones, each once", () => {
    const kept = addSteps(steps(1, 10), steps(9, 12));
    expect(kept.map(one => one.step)).toEqual(Array.from({ length: SHOWN_STEPS }, (_, index) => 5 + index));
  });
  it("forgets the attempt before", () => {
    expect(addSteps(steps(1, 10), steps(6, 7, 2)).map(one => one.step)).toEqual([6, 7]);
  });
});
