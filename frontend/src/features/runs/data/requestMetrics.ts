/** Metrics of a run, asked for in as many requests as it takes: one may name 64 of them. */
import { telemetry } from "@/api/client";
import type { MetricData, XAxis } from "@/api/model";

const MOST_KEYS = 64;

interface Drawn {
  x: XAxis;
  from?: number;
  to?: number;
  max_points: number;
  /** Only what was done by then. */
  as_of?: string;
}

export async function requestMetrics(
  id: string,
  keys: string[],
  drawn: Drawn,
  signal?: AbortSignal,
): Promise<MetricData> {
  const parts = Array.from({ length: Math.ceil(keys.length / MOST_KEYS) }, (_, part) =>
    keys.slice(part * MOST_KEYS, (part + 1) * MOST_KEYS),
  );
  const answers = await Promise.all(
    parts.map(part => telemetry.metrics(id, { keys: part.join(","), ...drawn }, signal)),
  );
  return answers.reduce((all, one) => ({ ...all, series: { ...all.series, ...one.series } }));
}
