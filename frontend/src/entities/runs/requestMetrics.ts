/** Fetches metrics of a run in as many requests as needed. Metrics of several runs share requests. */
import * as api from "@/api/client";
import type { MetricName, Metrics, XAxis } from "@/api/model";
import { gathering } from "@/lib/gather";

/** What one request may name, and points that its answer may have. */
const MOST_KEYS = 64;
const MOST_RUNS = 20;
const MOST_VALUES = 640_000;

interface Drawn {
  x: XAxis;
  from?: number;
  to?: number;
  max_points: number;
  /** Only what was done by then. */
  as_of?: string;
}

const requestPart = gathering<Drawn & { keys: string }, Metrics>({
  one: (id, params, signal) => api.getMetrics(id, params, { signal }),
  several: async (ids, params, signal) => {
    const { data } = await api.getMetricsOfRuns({ runs: ids.join(","), ...params }, { signal });
    return new Map(data.map(({ run, ...found }) => [run, found]));
  },
  most: ({ keys, max_points }) => Math.min(MOST_RUNS, Math.floor(MOST_VALUES / (keys.split(",").length * max_points))),
});

const requestAllNames = gathering<null, MetricName[]>({
  one: async (id, _, signal) => (await api.listMetricNames(id, { signal })).data,
  several: async (ids, _, signal) => {
    const { data } = await api.listMetricNamesOfRuns({ runs: ids.join(",") }, { signal });
    return new Map(data.map(({ run, data: found }) => [run, found]));
  },
  most: () => MOST_RUNS,
});

export async function requestMetrics(id: string, keys: string[], drawn: Drawn, signal?: AbortSignal): Promise<Metrics> {
  const parts = Array.from({ length: Math.ceil(keys.length / MOST_KEYS) }, (_, part) =>
    keys.slice(part * MOST_KEYS, (part + 1) * MOST_KEYS),
  );
  const answers = await Promise.all(parts.map(part => requestPart(id, { keys: part.join(","), ...drawn }, signal)));
  return answers.reduce((all, one) => ({ ...all, series: { ...all.series, ...one.series } }));
}

/** Names of all metrics that a run has reported. */
export function requestNames(id: string, signal?: AbortSignal): Promise<MetricName[]> {
  return requestAllNames(id, null, signal);
}
