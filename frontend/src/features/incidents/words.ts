/** Texts of incidents. Pure functions. */
import type { Incident, MetricEvidence, Run } from "@/api/model";
import type { RunSearch } from "@/entities/runs/search";
import { formatNumber } from "@/lib/format";

/** Steps that a chart shows on both sides. */
const MARGIN = 30;

const percent = (share: number) => `${formatNumber(100 * share)} %`;
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
  unknown: "Cause unknown",
};

/** "0.6 nats", "100 %" for a share, "0" for a reward: units that name only what the metric is are left out. */
export function valueText({ value, unit }: Pick<MetricEvidence, "value" | "unit">): string {
  if (value === null) return "not a number";
  if (unit === "share") return percent(value);
  return unit === "1" || unit === "reward" ? formatNumber(value) : `${formatNumber(value)} ${unit}`;
}

/** "usually 0.7 · at least 0.05", or in percent for a share. */
export function against({ usual, low, high, unit }: MetricEvidence): string {
  const text = unit === "share" ? percent : formatNumber;
  const words = [];
  if (usual !== null) words.push(`usually ${text(usual)}`);
  if (low !== null) words.push(`at least ${text(low)}`);
  if (high !== null) words.push(`at most ${text(high)}`);
  return words.join(" · ");
}

/** View state of the charts at the time of an incident, of one metric where it is named. */
export function chartsAt(incident: Incident, run: Pick<Run, "step">, metric?: string): RunSearch {
  const end = incident.until ?? run.step;
  return { find: metric, from: Math.max(0, incident.since - MARGIN), to: end + MARGIN };
}
