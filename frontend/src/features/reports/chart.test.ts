import { expect, it } from "vitest";
import type { MetricName } from "@/api/model";
import { chartBlock } from "@/entities/reports/blocks";
import { chartsOf, compareSearchOf, metricOf } from "./chart";

const RUNS = [
  { id: "run_a", name: "baseline" },
  { id: "run_b", name: "half" },
];
const METRICS = ["actor/entropy", "critic/score/mean", "response_length/mean", "response_length/p95"].map(
  name => ({ name, title: name, formula: "", unit: "", group: "actor" }) as unknown as MetricName,
);

it("draws one chart per metric, in the block's order, with its ends and its axis", () => {
  const block = chartBlock(RUNS, ["response_length/mean", "actor/entropy", "none/such"], { y_from: 0, log: true });
  const charts = chartsOf(block, METRICS, RUNS);
  expect(charts.map(metricOf)).toEqual(["response_length/mean", "actor/entropy"]);
  expect(charts.map(chart => [chart.range, chart.log])).toEqual([
    [[0, null], true],
    [[0, null], true],
  ]);
  expect(charts[0]?.lines([]).map(line => line.key)).toEqual([
    "run_a:response_length/mean",
    "run_b:response_length/mean",
  ]);
});

it("gives a lone chart the block's title", () => {
  expect(chartsOf(chartBlock(RUNS, ["actor/entropy"], { title: "It falls" }), METRICS, RUNS)[0]?.title).toBe(
    "It falls",
  );
});

it("lays several metrics into one chart: runs by colour, metrics by dashes", () => {
  const block = chartBlock(RUNS, ["response_length/mean", "response_length/p95"], { together: true, title: "Lengths" });
  const [chart, ...others] = chartsOf(block, METRICS, RUNS);
  expect([chart?.title, others]).toEqual(["Lengths", []]);
  const lines = chart?.lines([]) ?? [];
  expect(lines.map(line => line.label)).toEqual([
    "baseline · Response length: mean",
    "half · Response length: mean",
    "baseline · Response length: p95",
    "half · Response length: p95",
  ]);
  expect(lines.map(line => line.color)).toEqual([0, 1, 0, 1]);
  expect(lines[0]?.dash).toEqual(lines[1]?.dash);
  expect(lines[0]?.dash).not.toEqual(lines[2]?.dash);
});

it("gives each metric of one run a colour", () => {
  const block = chartBlock(RUNS.slice(0, 1), ["response_length/mean", "response_length/p95"], { together: true });
  const lines = chartsOf(block, METRICS, RUNS.slice(0, 1))[0]?.lines([]) ?? [];
  expect(lines.map(line => [line.label, line.color])).toEqual([
    ["Response length: mean", 0],
    ["Response length: p95", 1],
  ]);
});

it("says the same in the address of the page that compares", () => {
  const block = chartBlock(RUNS, ["actor/entropy"], { x: "tokens", smooth: 0.5, lineage: false });
  expect(compareSearchOf(block)).toEqual({
    runs: "run_a,run_b",
    x: "tokens",
    smooth: 0.5,
    find: "actor/entropy",
    lineage: "off",
  });
});
