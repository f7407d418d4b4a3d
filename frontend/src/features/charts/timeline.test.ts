import { describe, expect, it } from "vitest";
import type { RunEvent } from "@/api/model";
import { stepSpans } from "@/entities/runs/timeline";
import { busyShare, layout } from "./timeline";

function event(step: number, timeline: unknown, attempt = 1): RunEvent {
  return { seq: step, kind: "step", step, attempt, at: "2026-01-01T00:00:00Z", data: { timeline } } as RunEvent;
}
const span = (lane: string, start: number, end: number, phase = "generate") => ({ lane, phase, start, end });

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
