import { expect, it } from "vitest";
import type { MetricName } from "@/api/model";
import { CHARTS, chartKeys } from "./charts";
import { distinct, isFound, MAX_LINES, moreCharts } from "./more";

const metric = (name: string, group = "speed", title = name, formula = "a / b"): MetricName => ({
  name,
  title,
  unit: "s",
  formula,
  group,
});

it("gives each metric that has no chart one of its own, under its group's heading", () => {
  const metrics = [
    metric("critic/score/mean", "reward"),
    metric("perf/new", "speed", "New"),
    metric("custom/x", "other", "custom/x", ""),
    metric("custom/y", "other", "custom/y", ""),
  ];
  const sections = moreCharts(metrics, new Set(chartKeys(metrics.map(({ name }) => name))));
  expect(sections.map(({ heading, charts }) => [heading, charts.map(chart => chart.title)])).toEqual([
    ["Speed", ["New"]],
    ["Not in the registry", ["custom/x", "custom/y"]],
  ]);
  expect(sections[0]?.charts[0]?.lines([])).toMatchObject([{ key: "perf/new", label: "new", color: 0 }]);
});

it("draws the metrics of one entry together, as many as can be told apart", () => {
  const metrics = Array.from({ length: MAX_LINES + 3 }, (_, layer) => metric(`routing/${layer}/load`, "actor", "Load"));
  const [section] = moreCharts(metrics, new Set());
  expect(section?.charts.map(chart => chart.title)).toEqual(["Load: 0 to 11", "Load: 12 to 14"]);
  expect(section?.charts[1]?.lines([]).map(line => line.label)).toEqual(["12", "13", "14"]);
  const drawn = section?.charts.flatMap(chart => chart.lines([]).map(line => line.key));
  expect(drawn).toEqual(metrics.map(({ name }) => name));
  for (const chart of section?.charts ?? [])
    expect(new Set(chart.lines([]).map(line => `${line.color % 6} ${line.dash}`)).size).toBe(chart.lines([]).length);
});

it("gives charts ids of their own", () => {
  const metrics = ["a/b", "a/c", "d@1/e"].map(name => metric(name, "other", name, ""));
  const ids = moreCharts(metrics, new Set()).flatMap(({ charts }) => charts.map(chart => chart.id));
  expect(new Set([...ids, ...CHARTS.map(chart => chart.id)]).size).toBe(ids.length + CHARTS.length);
});

it.each([
  [["a/b/c"], ["c"]],
  [
    ["eval/x/pass_at/4/low", "eval/y/pass_at/8/low"],
    ["x 4", "y 8"],
  ],
  [
    ["train/a", "train/a/b"],
    ["", "b"],
  ],
])("labels %j by what differs", (names, labels) => {
  expect(distinct(names)).toEqual(labels);
});

it("finds charts by title, formula, unit and metric, all words at once", () => {
  const mismatch = CHARTS.find(chart => chart.id === "mismatch");
  if (!mismatch) throw new Error("there is no such chart");
  for (const query of ["mismatch", "K3_KL", "probe largest", "nats"]) expect(isFound(mismatch, [], query)).toBe(true);
  for (const query of ["probe tokens/s", "reward"]) expect(isFound(mismatch, [], query)).toBe(false);
});
