/** What held-out evaluations have found, run by run. */
import type { MetricData, MetricName, MetricSeries } from "@/api/model";

export interface Measured {
  step: number;
  value: number;
  /** Ends of the 95 % interval over prompts, where the run reports one. */
  low: number | null;
  high: number | null;
}

export interface EvaluationRow {
  metric: string;
  title: string;
  source: string;
  /** Whether more is better; null where neither is. */
  isMoreBetter: boolean | null;
  /** Newest and best of each run, in the order of the runs; null without a result. */
  runs: ({ last: Measured; best: Measured } | null)[];
}

const RESULT = /^eval\/(.+?)\/(score\/mean|pass_rate|pass_at\/\d+\/mean|response_length\/mean)$/;

/** Metrics that the table reads, with the ends of their intervals. */
export function evaluationKeys(metrics: MetricName[]): string[] {
  const names = metrics.map(metric => metric.name).filter(name => name.startsWith("eval/"));
  return names.filter(name => RESULT.test(name) || /\/(low|high)$/.test(name));
}

/**
 * One row per source and kind of result.
 *
 * @param metrics all that the runs have reported
 * @param found the metrics of each run over its steps
 */
export function evaluationRows(metrics: MetricName[], found: (MetricData | undefined)[]): EvaluationRow[] {
  return metrics.flatMap(({ name, title }) => {
    const [, source, kind] = RESULT.exec(name) ?? [];
    if (source === undefined || kind === undefined) return [];
    const isMoreBetter = kind === "response_length/mean" ? null : true;
    const k = /^pass_at\/(\d+)/.exec(kind)?.[1];
    const runs = found.map(one => results(one, name));
    if (runs.every(run => run === null)) return [];
    return [{ metric: name, title: k ? title.replace("@k", `@${k}`) : title, source, isMoreBetter, runs }];
  });
}

function results(found: MetricData | undefined, name: string) {
  const series = found?.series[name];
  if (!series) return null;
  const ends = name.endsWith("/mean") ? name.slice(0, -"/mean".length) : name;
  const at = (place: number): Measured => ({
    step: series.x[place] as number,
    value: series.mean[place] as number,
    low: valueOf(found.series[`${ends}/low`], series.x[place]),
    high: valueOf(found.series[`${ends}/high`], series.x[place]),
  });
  const places = series.mean.flatMap((value, place) => (value === null ? [] : [place]));
  const last = places.at(-1);
  if (last === undefined) return null;
  const best = places.reduce((a, b) => ((series.mean[b] as number) > (series.mean[a] as number) ? b : a));
  return { last: at(last), best: at(best) };
}

function valueOf(series: MetricSeries | undefined, x: number | undefined): number | null {
  const place = x === undefined ? -1 : (series?.x.indexOf(x) ?? -1);
  return series?.mean[place] ?? null;
}

/** Place of the best of the newest results; null where they do not differ, or where neither more nor less is better. */
export function bestRun({ isMoreBetter, runs }: EvaluationRow): number | null {
  const values = runs.map(run => run?.last.value ?? -Infinity);
  const known = values.filter(Number.isFinite);
  if (isMoreBetter === null || new Set(known).size < 2) return null;
  return values.indexOf(Math.max(...known));
}
