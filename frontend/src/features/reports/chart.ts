/** The charts that a block of a report asks for, and where the page that compares runs shows the same. */
import type { MetricName, Run } from "@/api/model";
import { type ChartSpec, DASHES } from "@/features/charts/charts";
import type { BlockOf } from "@/entities/reports/blocks";
import type { CompareSearch } from "@/entities/runs/search";
import { labels, overlaySections, splitKey } from "@/features/runs/overlay/overlay";

type Chart = BlockOf<"chart">;

/**
 * One chart per metric in the block's order, or one of all of them.
 *
 * @param metrics what the runs have reported
 */
export function chartsOf(block: Chart, metrics: MetricName[], runs: Pick<Run, "id" | "name">[]): ChartSpec[] {
  const wanted = metrics.filter(metric => block.metrics.includes(metric.name));
  const order = (chart: ChartSpec) => block.metrics.indexOf(metricOf(chart));
  const found = overlaySections(wanted, runs)
    .flatMap(section => section.charts)
    .toSorted((a, b) => order(a) - order(b));
  const drawn = block.together && found.length > 1 ? [together(found, block, runs)] : found;
  return drawn.map(chart => ({
    ...chart,
    title: (drawn.length === 1 && block.title) || chart.title,
    log: block.log ?? chart.log,
    range: [block.y_from ?? null, block.y_to ?? null],
  }));
}

/** The metric that a chart with one line per run draws. */
export function metricOf(chart: ChartSpec): string {
  return splitKey(chart.lines([])[0]?.key ?? "").metric;
}

/** Several metrics in one chart. Of one run, each has a colour; of several, runs have colours and metrics have dashes. */
function together(charts: ChartSpec[], block: Chart, runs: Pick<Run, "id" | "name">[]): ChartSpec {
  const first = charts[0] as ChartSpec;
  const names = new Map(runs.map(({ id }, place) => [id, labels(runs)[place] ?? id]));
  const titles = charts.map(chart => chart.title);
  const lines = charts.flatMap((chart, metric) =>
    chart.lines([]).map(line => {
      const dash = DASHES[metric % DASHES.length];
      const title = titles[metric] ?? "";
      if (runs.length === 1) return { ...line, label: title, color: metric, dash: DASHES[Math.floor(metric / 6)] };
      return { ...line, label: `${names.get(splitKey(line.key).runId) ?? ""} · ${title}`, dash };
    }),
  );
  const units = new Set(charts.map(chart => chart.unit));
  return {
    ...first,
    id: `together-${block.id}`,
    title: titles.join(", "),
    hint: charts.map(chart => chart.hint).join(" "),
    unit: units.size === 1 ? first.unit : undefined,
    lines: () => lines,
  };
}

/** What the block shows, as the page that compares runs has it in its address. */
export function compareSearchOf(block: Chart): CompareSearch {
  return {
    runs: block.runs.map(run => run.id).join(","),
    x: block.x === "step" ? undefined : block.x,
    smooth: block.smooth || undefined,
    find: block.metrics.length === 1 ? block.metrics[0] : undefined,
    lineage: block.lineage === false ? "off" : undefined,
  };
}
