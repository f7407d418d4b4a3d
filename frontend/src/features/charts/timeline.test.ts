import { describe, expect, it } from "vitest";
import type { RunEvent } from "@/api/model";
import { addSteps, busyShare, layout, SHOWN_STEPS, stepSpans } from "./timeline";

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

describe("layout", () => {
  it("is null without spans", () => {
    expect(layout([{ attempt: 1, step: 1, spans: [] }])).toBeNull();
  });
  it("orders lanes as the work flows, and counts overlapping work once", () => {
    const found = layout(
      [
        stepSpans(event(1, [span("learner", 4, 6, "learn"), span("engine-10", 0, 2), span("engine-2", 1, 3)])),
        stepSpans(event(2, [span("engine-2", 2, 5), span("sync", 9, 10, "sync")])),
      ].filter(one => one !== null),
    );
    expect(found?.lanes).toEqual(["engine-2", "engine-10", "learner", "sync"]);
    expect([found?.from, found?.to]).toEqual([0, 10]);
    expect(found && busyShare(found, "engine-2")).toBeCloseTo(0.4);
    expect(found && busyShare(found, "engine-10")).toBeCloseTo(0.2);
  });
});
