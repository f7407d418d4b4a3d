/** Charts of all metrics that no curated chart draws, described by the registry. */
import type { MetricName } from "@/api/model";
import { type ChartSpec, DASHES } from "./charts";
import type { LineStyle } from "./options";

/** Lines of one chart; more of them cannot be told apart. */
export const MAX_LINES = 12;

const HEADINGS: Record<string, string> = {
  reward: "Reward",
  evaluation: "Evaluation",
  data: "Data and curriculum",
  examples: "Examples",
  preference: "Preferences",
  actor: "Policy and optimizer",
  critic: "Critic",
  judge: "Judges",
  length: "Lengths and thinking",
  mismatch: "Mismatch and staleness",
  speed: "Speed",
  run: "Run",
};
const OTHER = "Not in the registry";

export interface Section {
  heading: string;
  charts: ChartSpec[];
}

/**
 * The charts, under the headings of the registry's groups. Metrics of one entry, such as those of each source, share a
 * chart.
 *
 * @param metrics what the run has reported
 * @param drawn metrics that have a chart
 */
export function moreCharts(metrics: MetricName[], drawn: ReadonlySet<string>): Section[] {
  const entries = new Map<string, MetricName[]>();
  for (const metric of metrics) {
    if (drawn.has(metric.name)) continue;
    const entry = metric.formula ? [metric.group, metric.title, metric.unit, metric.formula].join("\n") : metric.name;
    entries.set(entry, [...(entries.get(entry) ?? []), metric]);
  }
  const sections = new Map<string, ChartSpec[]>([...Object.values(HEADINGS), OTHER].map(heading => [heading, []]));
  for (const entry of entries.values()) {
    const heading = HEADINGS[entry[0]?.group ?? ""] ?? OTHER;
    for (let first = 0; first < entry.length; first += MAX_LINES)
      sections.get(heading)?.push(chartOf(entry.slice(first, first + MAX_LINES), entry.length > MAX_LINES));
  }
  return [...sections].flatMap(([heading, charts]) => (charts.length > 0 ? [{ heading, charts }] : []));
}

function chartOf(metrics: MetricName[], isPart: boolean): ChartSpec {
  const [first, last] = [metrics[0] as MetricName, metrics.at(-1) as MetricName];
  const labels = distinct(metrics.map(metric => metric.name));
  const lines: LineStyle[] = metrics.map(({ name }, index) => ({
    key: name,
    label: labels[index] ?? name,
    color: index,
    dash: DASHES[Math.floor(index / 6 + index) % DASHES.length],
  }));
  const title = isPart ? `${first.title}: ${labels[0]} to ${labels.at(-1)}` : first.title;
  return {
    id: `metric-${first.name.replaceAll(/[^\w-]+/g, "-")}`,
    title,
    hint: first.formula ? `${first.formula}. ${first === last ? first.name : ""}` : first.name,
    unit: first.unit || undefined,
    lines: () => lines,
  };
}

/** What names differ in; of a single name its last part. */
export function distinct(names: string[]): string[] {
  const parts = names.map(name => name.split("/"));
  if (names.length === 1) return [parts[0]?.at(-1) ?? ""];
  const differ = (index: number) => new Set(parts.map(part => part[index])).size > 1;
  return parts.map(part => part.filter((_, index) => differ(index)).join(" "));
}

/** Whether a chart matches a search: each word occurs in its title, hint or metrics. */
export function isFound(chart: ChartSpec, names: string[], query: string): boolean {
  const lines = chart.lines(names);
  const text = [chart.title, chart.hint, chart.group, chart.unit, ...lines.flatMap(line => [line.key, line.label])]
    .join(" ")
    .toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word));
}
