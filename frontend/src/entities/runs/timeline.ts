/** Spans of work by lane over the last steps, as the worker reports them with each step. */
import type { RunEvent } from "@/api/model";
import type { Topic } from "@/lib/updates";

/** Number of steps drawn. */
export const SHOWN_STEPS = 8;

export interface Span {
  lane: string;
  phase: string;
  /** Seconds since the attempt started. */
  start: number;
  end: number;
  step: number;
}

export interface StepSpans {
  attempt: number;
  step: number;
  spans: Span[];
}

/** The spans in a `step` event; null if the worker sends none. */
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

export const spansTopic = (runId: string): Topic<StepSpans> => ({ name: `run/${runId}/spans` });

/** `known` with `fresh`: each step once, those of the newest attempt, the last {@link SHOWN_STEPS}. */
export function addSteps(known: StepSpans[], fresh: StepSpans[]): StepSpans[] {
  const all = [...known, ...fresh];
  const attempt = Math.max(...all.map(one => one.attempt));
  const steps = new Map(all.filter(one => one.attempt === attempt).map(one => [one.step, one]));
  return [...steps.values()].sort((a, b) => a.step - b.step).slice(-SHOWN_STEPS);
}
