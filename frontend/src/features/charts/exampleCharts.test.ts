import { expect, it } from "vitest";
import { CHARTS, chartKeys, expectedCharts } from "./charts";

const drawn = (names: string[]) =>
  CHARTS.filter(chart => chart.lines(names).some(line => names.includes(line.key))).map(chart => chart.id);
const labels = (id: string, names: string[]) =>
  CHARTS.find(chart => chart.id === id)
    ?.lines(names)
    .map(line => line.label);
const SHARED = ["actor/grad_norm", "actor/lr", "actor/loss", "timing_s/step", "perf/throughput"];
const SFT = [
  "sft/loss",
  "sft/loss/chats",
  "sft/loss/code",
  "examples/tokens",
  "examples/taught_share",
  "examples/epoch",
  "eval/chats/loss",
  ...["last", "first", "third", "second"].map(part => `eval/chats/loss/${part}`),
];

it("draws eight charts of a supervised run, losses first", () => {
  expect(drawn([...SFT, ...SHARED])).toEqual([
    "sft-loss",
    "held-out-loss",
    "held-out-loss-position",
    "example-tokens",
    "taught-share",
    "throughput",
    "gradient",
    "time",
  ]);
  expect(chartKeys(SFT)).toEqual([...SFT].sort());
});

it("draws eight charts of a preference run, and its held-out loss", () => {
  const training = ["loss", "accuracy", "margin", "chosen_logprob", "rejected_logprob"].map(one => `preference/${one}`);
  const pairs = ["eval/pairs/preference_accuracy", "eval/pairs/preference_margin"];
  expect(drawn([...training, ...pairs, ...SHARED])).toEqual([
    "preference-loss",
    "preference-accuracy",
    "preference-margin",
    "preference-likelihood",
    "held-out-preference",
    "throughput",
    "gradient",
    "time",
  ]);
});

it("splits the loss by source if there are several", () => {
  expect(labels("sft-loss", SFT)).toEqual(["all", "chats", "code"]);
  expect(labels("sft-loss", ["sft/loss", "sft/loss/chats"])).toEqual(["all"]);
});

it("has the quarters of an example in their order, and apart from the held-out loss", () => {
  expect(labels("held-out-loss-position", SFT)).toEqual(["first", "second", "third", "last"]);
  expect(labels("held-out-loss", SFT)).toEqual(["chats"]);
  const two = ["eval/b/loss/last", "eval/a/loss/last", "eval/a/loss/first"];
  expect(labels("held-out-loss-position", two)).toEqual(["a, first", "a, last", "b, last"]);
});

it("expects charts of its objective from a run without a step, and every chart has an id of its own", () => {
  expect(expectedCharts("rl").map(chart => chart.id)).toContain("reward");
  expect(expectedCharts("sft").map(chart => chart.id)).not.toContain("reward");
  expect(expectedCharts("preference")[0]?.id).toBe("preference-loss");
  const ids = CHARTS.map(chart => chart.id);
  expect(new Set(ids).size).toBe(ids.length);
});
