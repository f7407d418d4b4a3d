/** Results of held-out evaluations by run. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { MetricName, Metrics, MetricSeries } from "@/api/model";
import { formatNumber } from "@/lib/format";
import { requestMetrics } from "./requestMetrics";

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
  /** Whether more is better; null if neither is. */
  isMoreBetter: boolean | null;
  /** Newest and best of each run, in the order of the runs; null without a result. */
  runs: ({ last: Measured; best: Measured } | null)[];
}

const RESULT =
  /^eval\/(.+?)\/(score\/mean|pass_rate|pass_at\/\d+\/mean|response_length\/mean|loss|preference_accuracy|preference_margin)$/;
/** Kinds of which less is better, or of which neither is. */
const IS_MORE_BETTER: Record<string, boolean | null> = { loss: false, "response_length/mean": null };

const MOST_RESULTS = 2_000;

/** `asOf`: only what was done by then. */
export const evaluationsQuery = (id: string, keys: string[], asOf?: string) =>
  queryOptions({
    queryKey: ["run", id, "evaluations", keys.join(","), asOf ?? null],
    queryFn: ({ signal }) => requestMetrics(id, keys, { x: "step", max_points: MOST_RESULTS, as_of: asOf }, signal),
    enabled: keys.length > 0,
    placeholderData: keepPreviousData,
  });

/** Metrics that the table reads, with the ends of their intervals. */
export function evaluationKeys(metrics: MetricName[]): string[] {
  const names = metrics.map(metric => metric.name).filter(name => name.startsWith("eval/"));
  return names.filter(name => RESULT.test(name) || /\/(low|high)$/.test(name));
}

/** Metrics that have a row in the table, once a run has a value of them. */
export function evaluatedMetrics(metrics: MetricName[]): MetricName[] {
  return metrics.filter(({ name }) => RESULT.test(name));
}

const PASSES = /\/(pass_rate|pass_at\/\d+\/mean)$/;

/**
 * One row per source and kind of result, those of passing first.
 *
 * @param metrics all that the runs have reported
 * @param found the metrics of each run over its steps
 */
export function evaluationRows(metrics: MetricName[], found: (Metrics | undefined)[]): EvaluationRow[] {
  const passing = metrics.filter(({ name }) => PASSES.test(name));
  const others = metrics.filter(({ name }) => !PASSES.test(name));
  return [...passing, ...others].flatMap(({ name, title }) => {
    const [, source, kind] = RESULT.exec(name) ?? [];
    if (source === undefined || kind === undefined) return [];
    const isMoreBetter = kind in IS_MORE_BETTER ? (IS_MORE_BETTER[kind] ?? null) : true;
    const k = /^pass_at\/(\d+)/.exec(kind)?.[1];
    const runs = found.map(one => results(one, name, isMoreBetter === false));
    if (runs.every(run => run === null)) return [];
    return [{ metric: name, title: k ? title.replace("@k", `@${k}`) : title, source, isMoreBetter, runs }];
  });
}

function results(found: Metrics | undefined, name: string, isLessBetter: boolean) {
  const series = found?.series[name];
  if (!series) return null;
  const at = (place: number) => measured(found, name, place);
  const places = series.mean.flatMap((value, place) => (value === null ? [] : [place]));
  const last = places.at(-1);
  if (last === undefined) return null;
  const sign = isLessBetter ? -1 : 1;
  const valueAt = (place: number) => sign * (series.mean[place] as number);
  const best = places.reduce((a, b) => (valueAt(b) > valueAt(a) ? b : a));
  return { last: at(last), best: at(best) };
}

function measured(found: Metrics, name: string, place: number): Measured {
  const series = found.series[name] as MetricSeries;
  const ends = name.endsWith("/mean") ? name.slice(0, -"/mean".length) : name;
  return {
    step: series.x[place] as number,
    value: series.mean[place] as number,
    low: valueOf(found.series[`${ends}/low`], series.x[place]),
    high: valueOf(found.series[`${ends}/high`], series.x[place]),
  };
}

function valueOf(series: MetricSeries | undefined, x: number | undefined): number | null {
  const place = x === undefined ? -1 : (series?.x.indexOf(x) ?? -1);
  return series?.mean[place] ?? null;
}

/**
 * The newest result at or before a step: what is known of the weights that a checkpoint of this step has.
 *
 * @returns null if the run was not evaluated by then
 */
export function resultAt(found: Metrics | undefined, name: string, step: number): Measured | null {
  const series = found?.series[name];
  const place = series ? series.x.findLastIndex((x, at) => x <= step && series.mean[at] !== null) : -1;
  return place < 0 ? null : measured(found as Metrics, name, place);
}

/** A result with its interval and its step. */
export function measuredText({ step, value, low, high }: Measured): string {
  const interval = low === null || high === null ? "" : ` [${formatNumber(low, 3)}, ${formatNumber(high, 3)}]`;
  return `${formatNumber(value, 3)}${interval} @ ${step.toLocaleString("en-GB")}`;
}

/** Index of the best of the newest results; null if they do not differ, or if neither more nor less is better. */
export function bestRun({ isMoreBetter, runs }: EvaluationRow): number | null {
  const sign = isMoreBetter === false ? -1 : 1;
  const values = runs.map(run => (run ? sign * run.last.value : -Infinity));
  const known = values.filter(Number.isFinite);
  if (isMoreBetter === null || new Set(known).size < 2) return null;
  return values.indexOf(Math.max(...known));
}
