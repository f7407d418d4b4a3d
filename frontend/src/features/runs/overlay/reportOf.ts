/** What a report of one run, or of several, starts with: the charts that are looked at, as they are drawn. */
import type { MetricName, ReportBlock, ReportContentRunMention, Run } from "@/api/model";
import { CHARTS, type ChartSpec } from "@/features/charts/charts";
import { isFound, moreCharts } from "@/features/charts/more";
import { listed } from "@/features/charts/views";
import { chartBlock, mention, MOST_METRICS, newId, type ReportText, textBlock } from "@/entities/reports/blocks";
import { evaluationKeys } from "@/entities/runs/evaluations";
import type { ChartsSearch, CompareSearch } from "@/entities/runs/search";
import { overlaySections, splitKey } from "./overlay";

/** Charts of a run that come along where none is pinned and none is looked for. */
const FIRST = 6;

/** Of one run: its pinned charts, else those that are looked for, else the first; the lines of a chart stay together. */
export function reportOf(run: Run, search: ChartsSearch, pins: string[], metrics: MetricName[]): ReportText {
  const names = metrics.map(metric => metric.name);
  const hidden = new Set(listed(search.hide));
  const own = (chart: ChartSpec) =>
    chart
      .lines(names)
      .map(line => line.key)
      .filter(key => names.includes(key) && !hidden.has(key))
      .slice(0, MOST_METRICS);
  const all = [
    ...CHARTS,
    ...moreCharts(metrics, new Set(CHARTS.flatMap(chart => chart.lines(names).map(line => line.key)))).flatMap(
      ({ charts }) => charts,
    ),
  ];
  const drawn = all.filter(chart => own(chart).length > 0);
  const pinned = pins.flatMap(id => drawn.find(chart => chart.id === id) ?? []);
  const find = search.find?.trim();
  const found = find ? drawn.filter(chart => isFound(chart, names, find)) : pinned.length > 0 ? pinned : drawn;
  const flipped = new Set(listed(search.log));
  const runs = [mention(run)];
  return {
    title: run.name,
    blocks: [
      textBlock(),
      ...found.slice(0, FIRST).map(chart => {
        const log = flipped.has(chart.id) ? { log: !(chart.log ?? false) } : {};
        return chartBlock(runs, own(chart), { ...common(search), title: chart.title, together: true, ...log });
      }),
      ...results(runs, metrics),
    ],
  };
}

/** Of runs that are compared: the charts that are looked for, else the first, what differs, and the results. */
export function reportOfCompared(runs: Run[], search: CompareSearch, metrics: MetricName[]): ReportText {
  const hidden = new Set(listed(search.hide));
  const shown = runs.filter(run => !hidden.has(run.id));
  const mentions = (shown.length > 0 ? shown : runs).map(mention);
  const find = search.find?.trim();
  const charts = overlaySections(metrics, runs)
    .flatMap(section => section.charts)
    .filter(chart => !find || isFound(chart, [], find))
    .map(chart => splitKey(chart.lines([])[0]?.key ?? "").metric)
    .slice(0, find ? MOST_METRICS : FIRST);
  return {
    title: mentions.length > 2 ? `${mentions.length} runs compared` : mentions.map(run => run.name).join(" and "),
    blocks: [
      textBlock(),
      ...(charts.length > 0
        ? [chartBlock(mentions, charts, { ...common(search), lineage: search.lineage !== "off" })]
        : []),
      ...results(mentions, metrics),
      ...(mentions.length > 1 ? [{ type: "spec" as const, id: newId(), runs: mentions }] : []),
    ],
  };
}

function results(runs: ReportContentRunMention[], metrics: MetricName[]): ReportBlock[] {
  return evaluationKeys(metrics).length > 0 ? [{ type: "evaluations", id: newId(), runs }] : [];
}

/** How the charts are drawn. */
function common({ x, smooth, from, to }: ChartsSearch) {
  return { x: x ?? "step", smooth: smooth ?? 0, x_from: from ?? null, x_to: to ?? null };
}
