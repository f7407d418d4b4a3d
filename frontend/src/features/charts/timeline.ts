/** The drawing of a timeline: its lanes, its reach, and how busy each lane was. */
import type { Span, StepSpans } from "@/entities/runs/timeline";

export interface Timeline {
  lanes: string[];
  phases: string[];
  spans: Span[];
  from: number;
  to: number;
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
