/** Charts of several runs: each metric has a chart of its own, with one line per run. */
import type { MetricName, Metrics, MetricSeries, Run } from "@/api/model";
import { CHARTS, type ChartSpec, DASHES } from "@/features/charts/charts";
import { stepsOf } from "@/features/charts/gaps";
import { moreCharts } from "@/features/charts/more";
import type { LineStyle } from "@/features/charts/options";
import { shifted } from "@/entities/runs/lineage";

/** Colours of the theme. */
const COLORS = 6;
/** Charts of a block: full rows of one, two, three and four columns. Each block is read when it comes near. */
export const BLOCK = 12;

/** How the lines of a run look in every chart. */
export type RunStyle = Pick<LineStyle, "color" | "dash">;

export interface Section {
  id: string;
  heading?: string;
  charts: ChartSpec[];
}

/** The look of the run at a place of the list: colours first, then dashes. */
export function runStyle(place: number): RunStyle {
  return { color: place % COLORS, dash: DASHES[Math.floor(place / COLORS) % DASHES.length] };
}

/** Key of the line of one run and one metric. */
export function lineKey(runId: string, metric: string): string {
  return `${runId}:${metric}`;
}

export function splitKey(key: string): { runId: string; metric: string } {
  const colon = key.indexOf(":");
  return { runId: key.slice(0, colon), metric: key.slice(colon + 1) };
}

/** Names of the runs, short, and told apart by the ends of their ids where they are alike. */
export function labels(runs: Pick<Run, "id" | "name">[]): string[] {
  const short = runs.map(({ name }) => (name.length > 22 ? `${name.slice(0, 21).trimEnd()}…` : name));
  return short.map((label, index) =>
    short.indexOf(label) === short.lastIndexOf(label) ? label : `${label} (${runs[index]?.id.slice(-4)})`,
  );
}

/** All metrics that any of the runs has reported, each once, by name. */
export function allMetrics(reported: (MetricName[] | undefined)[]): MetricName[] {
  const known = new Map(reported.flatMap(one => one ?? []).map(metric => [metric.name, metric]));
  return [...known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** One chart per metric: first those of a run's own charts in their order, then all others under their headings. */
export function overlaySections(metrics: MetricName[], runs: Pick<Run, "id" | "name">[]): Section[] {
  const names = metrics.map(metric => metric.name);
  const known = new Map(metrics.map(metric => [metric.name, metric]));
  const named = labels(runs);
  const drawn = new Set<string>();
  const split = (chart: ChartSpec): ChartSpec[] => {
    const lines = chart.lines(names).filter(line => known.has(line.key) && !drawn.has(line.key));
    return lines.map(line => {
      drawn.add(line.key);
      return overlaid(chart, line, known.get(line.key) as MetricName, lines.length > 1, runs, named);
    });
  };
  const curated = CHARTS.flatMap(split);
  const blocks = Array.from({ length: Math.ceil(curated.length / BLOCK) }, (_, block) => ({
    id: `block-${block}`,
    charts: curated.slice(block * BLOCK, (block + 1) * BLOCK),
  }));
  const others = moreCharts(metrics, drawn).map(({ heading, charts }) => ({
    id: heading,
    heading,
    charts: charts.flatMap(split),
  }));
  return [...blocks, ...others];
}

function overlaid(
  chart: ChartSpec,
  line: LineStyle,
  metric: MetricName,
  isOneOfMany: boolean,
  runs: Pick<Run, "id">[],
  named: string[],
): ChartSpec {
  const { rare, stepped, axis } = line;
  const lines: LineStyle[] = runs.map(({ id }, place) => ({
    key: lineKey(id, line.key),
    label: named[place] ?? id,
    ...runStyle(place),
    rare,
    stepped,
  }));
  return {
    id: `compare-${line.key.replaceAll(/[^\w-]+/g, "-")}`,
    title: isOneOfMany ? `${chart.title}: ${line.label}` : chart.title,
    hint: [line.key, metric.formula, chart.hint].filter(Boolean).join(". "),
    unit: axis === "right" ? metric.unit || undefined : chart.unit,
    log: chart.log,
    lines: () => lines,
  };
}

/** The runs' metrics as one document, each line under its key, with the steps that it is due at. */
export function overlaidData(
  runs: { id: string; data: Metrics | undefined; shift: number }[],
  x: Metrics["x"],
): { data: Metrics; stepsByLine: Record<string, number[]> } {
  const series: Record<string, MetricSeries> = {};
  const stepsByLine: Record<string, number[]> = {};
  for (const { id, data, shift } of runs) {
    if (!data) continue;
    const moved = shifted(data, shift).series;
    const steps = stepsOf(moved);
    for (const [metric, one] of Object.entries(moved)) {
      series[lineKey(id, metric)] = one;
      stepsByLine[lineKey(id, metric)] = steps;
    }
  }
  return { data: { x, series }, stepsByLine };
}
