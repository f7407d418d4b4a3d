/**
 * The last live points of each run that is being watched. An answer to a metrics query was made a moment before it
 * arrives; points that came in between are added to it from here, so that no query can take a point off a chart.
 */
import type { QueryClient } from "@tanstack/react-query";
import type { MetricData, Run } from "@/api/model";
import { type LivePoint, mergePoints } from "./points";

const KEPT = 512;
const points = new Map<string, LivePoint[]>();

/** Keeps the points of the newest attempt; those of earlier ones may be superseded. */
export function remember(runId: string, found: LivePoint[]): void {
  const all = [...(points.get(runId) ?? []), ...found];
  const attempt = Math.max(...all.map(point => point.attempt));
  points.set(runId, all.filter(point => point.attempt === attempt).slice(-KEPT));
}

export function forget(runId: string): void {
  points.delete(runId);
}

/** `data` with `found`, as far as the drawn metrics `keys` go. */
export function withPoints(
  client: QueryClient,
  runId: string,
  keys: string[],
  data: MetricData,
  found: LivePoint[] = points.get(runId) ?? [],
): MetricData {
  const wanted = new Set(keys);
  const own = found.map(point => ({
    ...point,
    metrics: Object.fromEntries(Object.entries(point.metrics).filter(([name]) => wanted.has(name))),
  }));
  const run = client.getQueryData<Run>(["run", runId]);
  // The platform counts time from the same moment.
  const started = run?.started_at ?? run?.created_at;
  return mergePoints(data, own, started ? Date.parse(started) : 0);
}
