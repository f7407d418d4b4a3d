/** Adds live points to the result of the metrics query, without duplicates or gaps. */
import type { QueryClient } from "@tanstack/react-query";
import type { Metrics, MetricSeries, Run, RunEvent } from "@/api/model";
import type { Since, Topic } from "@/lib/updates";

/** One step as the stream reports it. */
export interface LivePoint {
  seq: number;
  attempt: number;
  step: number;
  at: string;
  tokens: number | null;
  metrics: Record<string, number>;
}

/** Values that JSON cannot carry arrive as strings. */
export function decodeValue(value: unknown): number {
  if (typeof value === "number") return value;
  if (value === "Infinity") return Number.POSITIVE_INFINITY;
  if (value === "-Infinity") return Number.NEGATIVE_INFINITY;
  return Number.NaN;
}

/** The point in a `step` or `eval` event; null for other kinds. */
export function livePoint(event: RunEvent): LivePoint | null {
  if ((event.kind !== "step" && event.kind !== "eval") || event.step === null) return null;
  const metrics: Record<string, number> = {};
  for (const [name, value] of Object.entries((event.data.metrics ?? {}) as Record<string, unknown>)) {
    metrics[name] = decodeValue(value);
  }
  const tokens = typeof event.data.tokens_total === "number" ? event.data.tokens_total : null;
  return { seq: event.seq, attempt: event.attempt, step: event.step, at: event.at, tokens, metrics };
}

/**
 * What is on the x axis at a point. Time counts seconds since `origin`, the start of the run. null if only the
 * platform can tell: what a run has cost by then.
 */
function position(point: LivePoint, x: Metrics["x"], origin: number): number | null {
  if (x === "step") return point.step;
  if (x === "time") return (Date.parse(point.at) - origin) / 1000;
  return x === "tokens" ? point.tokens : null;
}

const empty = (): MetricSeries => ({ x: [], min: [], mean: [], max: [], raw_count: 0, nan: [] });

/**
 * `data` with `points` added. A point at or before the end of a series is a repetition (the query saw it already, or
 * the stream resent it) and is left out. Points of a new attempt need more, see {@link needsReload}.
 */
export function mergePoints(data: Metrics, points: LivePoint[], origin: number): Metrics {
  if (points.length === 0) return data;
  const series = { ...data.series };
  const copied = new Set<string>();
  for (const point of points) {
    const x = position(point, data.x, origin);
    if (x === null) continue;
    for (const [name, value] of Object.entries(point.metrics)) {
      const present = series[name];
      const last = present?.x.at(-1) ?? -Infinity;
      if (x <= last) continue;
      if (!copied.has(name)) {
        series[name] = present ? copySeries(present) : empty();
        copied.add(name);
      }
      append(series[name] as MetricSeries, x, value);
    }
  }
  return copied.size === 0 ? data : { ...data, series };
}

/** Points of a new attempt may replace what is drawn: then the platform, which knows what is superseded, is asked. */
export function needsReload(points: LivePoint[], attempt: number): boolean {
  return points.some(point => point.attempt > attempt);
}

function append(series: MetricSeries, x: number, value: number): void {
  series.raw_count += 1;
  const finite = Number.isFinite(value) ? value : null;
  if (finite === null) series.nan.push(x);
  // As the platform answers: a place without a value where nothing was finite.
  series.x.push(x);
  series.min.push(finite);
  series.mean.push(finite);
  series.max.push(finite);
}

function copySeries(series: MetricSeries): MetricSeries {
  return {
    ...series,
    x: [...series.x],
    min: [...series.min],
    mean: [...series.mean],
    max: [...series.max],
    nan: [...series.nan],
  };
}

export const pointTopic = (runId: string): Topic<LivePoint> => ({ name: `run/${runId}/point` });

/** `data` with `found`, limited to the drawn metrics `keys`. */
export function withPoints(
  client: QueryClient,
  runId: string,
  keys: string[],
  data: Metrics,
  found: LivePoint[],
): Metrics {
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

/** An answer with metrics, with the points since it was requested. Those of earlier attempts may be superseded. */
export function mergeMetrics(
  client: QueryClient,
  runId: string,
  keys: string[],
  answer: Metrics,
  since: Since,
): Metrics {
  const found = since(pointTopic(runId));
  const attempt = Math.max(...found.map(point => point.attempt));
  const newest = found.filter(point => point.attempt === attempt);
  return withPoints(client, runId, keys, answer, newest);
}
