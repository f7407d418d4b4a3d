import { expect, it } from "vitest";
import type { MetricName, Metrics } from "@/api/model";
import { BLOCK, labels, lineKey, overlaidData, overlaySections, runStyle, splitKey } from "./overlay";

const RUNS = [
  { id: "run_a", name: "baseline" },
  { id: "run_b", name: "twice the rate" },
];
const metric = (name: string): MetricName =>
  ({ name, title: name, formula: "", unit: "", group: "Other metrics" }) as unknown as MetricName;
const one = (x: number[]) => ({ x, mean: x, min: x, max: x, raw_count: x.length, nan: [] });

it("gives every metric one chart with a line per run, in the runs' order", () => {
  const names = ["critic/score/mean", "critic/score/std", "actor/entropy", "my_own/metric"];
  const charts = overlaySections(names.map(metric), RUNS).flatMap(section => section.charts);
  const lines = charts.map(chart => chart.lines([]).map(line => line.key));
  expect(lines.map(keys => keys.map(key => splitKey(key).runId))).toEqual(charts.map(() => ["run_a", "run_b"]));
  expect(lines.map(([key]) => splitKey(key as string).metric).toSorted()).toEqual(names.toSorted());
  expect(new Set(charts.map(chart => chart.id)).size).toBe(charts.length);
});

it("puts the charts of a run's own page first, in blocks, and all others under headings", () => {
  const sections = overlaySections([metric("my_own/metric"), metric("critic/score/mean")], RUNS);
  expect(sections[0]?.heading).toBeUndefined();
  expect(sections[0]?.charts.map(chart => chart.id)).toEqual(["compare-critic-score-mean"]);
  expect(sections.at(-1)?.heading).toBeDefined();
  expect(sections.every(({ heading, charts }) => heading !== undefined || charts.length <= BLOCK)).toBe(true);
});

it("tells twelve runs and more apart by colour, then by dashes", () => {
  const styles = Array.from({ length: 12 }, (_, place) => JSON.stringify(runStyle(place)));
  expect(new Set(styles).size).toBe(12);
});

it("tells runs of one name apart by the ends of their ids, and cuts long names", () => {
  const named = labels([
    { id: "run_1111", name: "same" },
    { id: "run_2222", name: "same" },
    { id: "run_3", name: "a name that goes on for longer than a legend" },
  ]);
  expect(named).toEqual(["same (1111)", "same (2222)", "a name that goes on f…"]);
});

it("keeps colons of a metric in its line's key", () => {
  expect(splitKey(lineKey("run_a", "eval/a:b"))).toEqual({ runId: "run_a", metric: "eval/a:b" });
});

it("moves a child's points, and keeps each run's own steps", () => {
  const data = (x: number[]): Metrics => ({ x: "step", series: { loss: one(x) } });
  const both = overlaidData(
    [
      { id: "run_a", data: data([1, 2, 3]), shift: 0 },
      { id: "run_b", data: data([1, 2]), shift: 2 },
      { id: "run_c", data: undefined, shift: 0 },
    ],
    "step",
  );
  expect(Object.keys(both.data.series)).toEqual(["run_a:loss", "run_b:loss"]);
  expect(both.data.series["run_b:loss"]?.x).toEqual([3, 4]);
  expect(both.stepsByLine).toEqual({ "run_a:loss": [1, 2, 3], "run_b:loss": [3, 4] });
});
