/** Incidents in words. Pure functions. */
import type { Incident, MetricEvidence, Run } from "@/api/model";
import type { RunSearch } from "@/entities/runs/search";
import { formatNumber } from "@/lib/format";

/** Steps that a chart shows on both sides. */
const MARGIN = 30;

const step = (at: number) => at.toLocaleString("en-GB");

/** "since step 41", or "steps 41 to 52". */
export function lasted({ since, until }: Pick<Incident, "since" | "until">): string {
  if (until === null) return `since step ${step(since)}`;
  return since === until ? `step ${step(since)}` : `steps ${step(since)} to ${step(until)}`;
}

/** How sure the cause is. */
export const SURE: Record<Incident["confidence"], string> = {
  known: "Cause",
  likely: "Likely cause",
  unknown: "Cause not known",
};

/** "usually 0.7 · at least 0.05". */
export function against({ usual, low, high }: MetricEvidence): string {
  const words = [];
  if (usual !== null) words.push(`usually ${formatNumber(usual)}`);
  if (low !== null) words.push(`at least ${formatNumber(low)}`);
  if (high !== null) words.push(`at most ${formatNumber(high)}`);
  return words.join(" · ");
}

/** View state of the charts at the time of an incident, of one metric where it is named. */
export function chartsAt(incident: Incident, run: Pick<Run, "step">, metric?: string): RunSearch {
  const end = incident.until ?? run.step;
  return { find: metric, from: Math.max(0, incident.since - MARGIN), to: end + MARGIN };
}
