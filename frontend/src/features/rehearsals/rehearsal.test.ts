import { expect, it } from "vitest";
import { formatPercent } from "@/lib/format";
import { endOf, joined, phaseOf, signalSentence, stepSentence, visible } from "./rehearsal";

const text = (value: string) => ({ text: value, control: false });
const control = (value: string) => ({ text: value, control: true });

it("joins text and leaves control tokens by themselves", () => {
  const pieces = [control("<s>"), control("<s>"), text("1"), text("+1"), control("</s>"), text("=")];
  expect(joined(pieces)).toEqual([
    { text: "<s>", control: true, tokens: 1 },
    { text: "<s>", control: true, tokens: 1 },
    { text: "1+1", control: false, tokens: 2 },
    { text: "</s>", control: true, tokens: 1 },
    { text: "=", control: false, tokens: 1 },
  ]);
  expect(joined([])).toEqual([]);
});

it("shows what is invisible", () => {
  expect(visible("a  \n\tb c")).toBe("a··↵\n⇥\tb c");
});

it.each([
  ["stop", "finished"],
  ["length", "truncated"],
  ["something", "something"],
])("says how an answer has ended: %s", (finish_reason, words) => {
  expect(endOf({ finish_reason })).toBe(words);
});

it.each([
  ["queued", 0, null, "Waiting for a worker"],
  ["queued", 1, null, "Queued: one dry run ahead"],
  ["queued", 3, null, "Queued: 3 dry runs ahead"],
  ["running", 0, null, "Loading the policy and the graders"],
  ["running", 0, { phase: "loading", done: 1, total: 3 }, "Loading the policy and the graders"],
  ["running", 0, { phase: "generating", done: 2, total: 8 }, "Sampling and grading, 2 of 8 prompts"],
] as const)("says what it is at: %s", (state, ahead, progress, words) => {
  expect(phaseOf({ state, ahead, progress })).toBe(words);
});

it("tells the time of a step as far as it is known", () => {
  expect(stepSentence({ step_time: null })).toBeNull();
  const whole = {
    step_seconds: 12.2,
    generate_seconds: 5,
    learn_seconds: 6,
    source: "the run 'first'",
    estimated: false,
  };
  expect(stepSentence({ step_time: whole })).toBe("A step takes about 12 s, by the run 'first'.");
  const guessed = { ...whole, source: "this rehearsal's engine, and more", estimated: true };
  expect(stepSentence({ step_time: guessed })).toBe(
    "A step takes about 12 s, an estimate: the engine's speed was measured here; learning (about 6 s) is derived from " +
      "the policy's size and this machine's peak.",
  );
  const half = { ...whole, step_seconds: null, learn_seconds: null };
  expect(stepSentence({ step_time: half })).toContain("A step generates for about 5 s");
});

it("counts the groups with a signal", () => {
  expect(signalSentence(0.375, 8)).toBe(`3 of 8 groups (${formatPercent(0.375)}) have signal: their rewards differ.`);
});
