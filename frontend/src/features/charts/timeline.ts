/** Where the seconds of the last steps went: spans of work on lanes, as the worker reports them with each step. */
import type { RunEvent } from "@/api/model";

/** Steps that are drawn. */
export const SHOWN_STEPS = 8;

export interface Span {
  lane: string;
  phase: string;
  /** Seconds since the attempt began. */
  start: number;
  end: number;
  step: number;
}

export interface StepSpans {
  attempt: number;
  step: number;
  spans: Span[];
}

export interface Timeline {
  lanes: string[];
  phases: string[];
  spans: Span[];
  from: number;
  to: number;
}

/** The spans in a `step` event; null where the worker sends none. */
export function stepSpans(event: RunEvent): StepSpans | null {
  const { step, attempt } = event;
  const rows = event.data.timeline;
  if (event.kind !== "step" || step === null || !Array.isArray(rows)) return null;
  const spans = rows.flatMap((row: unknown) => {
    const { lane, phase, start, end } = row as Record<string, unknown>;
    return typeof lane === "string" && typeof phase === "string" && typeof start === "number" && typeof end === "number"
      ? [{ lane, phase, start, end: Math.max(start, end), step }]
      : [];
  });
  return { attempt, step, spans };
}

/** `known` with `fresh`: each step once, those of the newest attempt, the last {@link SHOWN_STEPS}. */
export function addSteps(known: StepSpans[], fresh: StepSpans[]): StepSpans[] {
  const all = [...known, ...fresh];
  const attempt = Math.max(...all.map(one => one.attempt));
  const steps = new Map(all.filter(one => one.attempt === attempt).map(one => [one.step, one]));
  return [...steps.values()].sort((a, b) => a.step - b.step).slice(-SHOWN_STEPS);
}

/** Lanes in the order of the flow: engines, rewards, learner, weights, then what else there is. */
export function layout(steps: StepSpans[]): Timeline | null {
  const spans = steps.flatMap(one => one.spans);
  if (spans.length === 0) return null;
  const lanes = [...new Set(spans.map(span => span.lane))].sort(
    (a, b) => rank(a) - rank(b) || a.localeCompare(b, undefined, { numeric: true }),
  );
  return {
    lanes,
    phases: [...new Set(spans.map(span => span.phase))].sort(),
    spans,
    from: Math.min(...spans.map(span => span.start)),
    to: Math.max(...spans.map(span => span.end)),
  };
}

/** Share of the drawn time in which a lane did something; overlapping spans count once. */
export function busyShare(timeline: Timeline, lane: string): number {
  const spans = timeline.spans.filter(span => span.lane === lane).sort((a, b) => a.start - b.start);
  let busy = 0;
  let reached = timeline.from;
  for (const span of spans) {
    busy += Math.max(0, span.end - Math.max(reached, span.start));
    reached = Math.max(reached, span.end);
  }
  return timeline.to > timeline.from ? busy / (timeline.to - timeline.from) : 0;
}

const ORDER = ["engine", "reward", "learner", "sync"];

function rank(lane: string): number {
  const index = ORDER.findIndex(name => lane.startsWith(name));
  return index < 0 ? ORDER.length : index;
}
