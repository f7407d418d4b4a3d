import { expect, it } from "vitest";
import type { MetricName, ReportBlock, Run } from "@/api/model";
import { reportOf, reportOfCompared } from "./reportOf";

const metric = (name: string) =>
  ({ name, title: name, formula: "", unit: "", group: "actor" }) as unknown as MetricName;
const METRICS = ["critic/score/mean", "actor/entropy", "response_length/mean", "response_length/p95"].map(metric);
const run = (id: string, name: string) => ({ id, name }) as Run;
const [A, B] = [run("run_a", "baseline"), run("run_b", "half")];
const charts = (blocks: ReportBlock[]) => blocks.filter(block => block.type === "chart");

it("takes the pinned charts of a run along, with axis, smoothing, zoom and logarithm", () => {
  const search = { x: "tokens", smooth: 0.5, from: 1, to: 9, log: "entropy", hide: "response_length/p95" } as const;
  const report = reportOf(A, search, ["length", "entropy"], METRICS);
  expect([report.title, report.blocks[0]?.type]).toEqual(["baseline", "text"]);
  const common = {
    x: "tokens",
    smooth: 0.5,
    x_from: 1,
    x_to: 9,
    together: true,
    runs: [{ id: "run_a", name: "baseline" }],
  };
  expect(charts(report.blocks)).toMatchObject([
    { ...common, metrics: ["response_length/mean"] },
    { ...common, metrics: ["actor/entropy"], log: true },
  ]);
});

it("takes the first charts that a run has where none is pinned", () => {
  const found = charts(reportOf(A, {}, [], METRICS).blocks);
  expect(found.map(block => block.metrics[0])).toEqual(["critic/score/mean", "response_length/mean", "actor/entropy"]);
});

it("takes what is compared along, without the runs that are hidden", () => {
  const evaluated = [...METRICS, metric("eval/sums/score/mean")];
  const report = reportOfCompared([A, B], { find: "actor/entropy", lineage: "off" }, evaluated);
  expect(report.title).toBe("baseline and half");
  expect(report.blocks.map(block => block.type)).toEqual(["text", "chart", "evaluations", "spec"]);
  expect(charts(report.blocks)).toMatchObject([{ metrics: ["actor/entropy"], lineage: false }]);
  const one = reportOfCompared([A, B], { hide: "run_b" }, METRICS);
  expect(one.blocks.map(block => block.type)).toEqual(["text", "chart"]);
});
