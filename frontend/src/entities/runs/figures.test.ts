import { expect, it } from "vitest";
import type { Metrics, MetricSeries, Run } from "@/api/model";
import { newest } from "./figures";
import { isOfExamples, objectiveFor, objectiveOf, runObjective, tabsOf } from "./objective";

const series = (...mean: (number | null)[]): MetricSeries => ({ x: mean.map((_, at) => at), mean }) as MetricSeries;
const found = (all: Record<string, MetricSeries>): Pick<Metrics, "series"> => ({ series: all });

it("sums up the newest loss and the held-out losses of all sources, and no parts of them", () => {
  const metrics = found({
    "sft/loss": series(2, 1.5, null),
    "sft/loss/chats": series(9),
    "eval/chats/loss": series(3, 2),
    "eval/code/loss": series(1),
    "eval/code/loss/last": series(9),
  });
  expect(newest(metrics, "sft")).toEqual({ value: 1.5, heldOut: 1.5 });
  expect(newest(metrics, "preference")).toEqual({ value: null, heldOut: null });
});

it("sums up pairs by their accuracy", () => {
  const metrics = found({ "preference/accuracy": series(0.5, 0.75), "eval/p/preference_accuracy": series(0.625) });
  expect(newest(metrics, "preference")).toEqual({ value: 0.75, heldOut: 0.625 });
  expect(newest(undefined, "preference")).toEqual({ value: null, heldOut: null });
});

it("reads the objective from the run, else from its spec; documents that name none are of RL", () => {
  const of = (run: object) => runObjective(run as Parameters<typeof runObjective>[0]);
  expect(of({ objective: "sft" })).toBe("sft");
  expect(of({ spec: { objective: { type: "preference" } } })).toBe("preference");
  expect(of({ objective: "unheard of", spec: {} })).toBe("rl");
  expect([objectiveOf(undefined), objectiveOf(null), objectiveOf({ objective: null })]).toEqual(["rl", "rl", "rl"]);
});

it("has a tab of rollouts where something is sampled", () => {
  expect(tabsOf({} as Run)).toContain("rollouts");
  expect(tabsOf({ objective: "sft" })).not.toContain("rollouts");
});

it.each([
  ["sft/loss", true],
  ["actor/grad_norm", true],
  ["timing_s/step", true],
  ["actor/entropy", false],
  ["critic/score/mean", false],
  [undefined, false],
])("knows whether a run without samples reports %s", (metric, expected) => {
  expect(isOfExamples(metric)).toBe(expected);
});

it.each([
  [["prompt", "answer"], undefined],
  [["messages", "completion"], "sft"],
  [["prompt", "completion", "answer"], undefined],
  [["prompt", "chosen", "rejected"], "preference"],
  [["prompt", "chosen"], undefined],
  [[], undefined],
])("takes rows of %j for %s", (names, expected) => {
  expect(objectiveFor(names.map(name => ({ name })))).toBe(expected);
});
