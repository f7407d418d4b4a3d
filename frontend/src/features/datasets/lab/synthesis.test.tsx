import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { SynthesisReport } from "@/api/model";
import { renderWith } from "@/test/render";
import { NO_SYNTHESIS, PURPOSES, synthesisOf } from "./synthesis";
import { SynthesisFound } from "./SynthesisFound";

const row = { ref: "sums@1", index: 0, id: "a", text: "How many are 3 horses?", answer: "3" };
const REPORT: SynthesisReport = {
  rows: 1,
  written: 2,
  kept: 0,
  refused: 2,
  reasons: [
    { reason: "outvoted", variations: 1 },
    { reason: "other_numbers", variations: 1 },
  ],
  kept_ones: [],
  refused_ones: [{ row, text: "How many are 4 horses?", reason: "other_numbers", detail: "It lacks 3 and has 4." }],
  asked: {
    model: "m",
    rows: 1,
    answered: 1,
    failed: 0,
    failures: [],
    questions: 1,
    prompt_tokens: 9,
    completion_tokens: 5,
    price: null,
  },
};

it("asks once all choices are there, by the defaults of the operation where nothing else is chosen", () => {
  const asked = { endpoint: "m", sample: null };
  expect(synthesisOf(null, NO_SYNTHESIS)).toBeNull();
  expect(synthesisOf(asked, { ...NO_SYNTHESIS, variations: "" })).toBeNull();
  expect(synthesisOf(asked, { ...NO_SYNTHESIS, instruction: " " })).toBeNull();
  expect(synthesisOf(asked, { ...NO_SYNTHESIS, words: " horses ", least: 75 })).toEqual({
    kind: "synthesis",
    endpoint: "m",
    sample: null,
    query: { text: "horses" },
    instruction: PURPOSES.rephrase.instruction,
    answers: "same",
    same_numbers: true,
    near: 0.8,
    variations: 2,
    attempts: 4,
    least_pass_rate: 0.75,
    most_pass_rate: 1,
    solver: null,
    answer_format: "Reason step by step, and put your final answer within \\boxed{}.",
    max_tokens: 2048,
    reward: null,
    into: null,
    seed: 0,
  });
  expect(synthesisOf(asked, { ...NO_SYNTHESIS, purpose: "whole" })).toMatchObject({ answers: "whole" });
  const others = { sameNumbers: false, most: 90, near: 60, answerFormat: "", maxTokens: 512, reward: "right@2" };
  expect(synthesisOf(asked, { ...NO_SYNTHESIS, ...others, into: " More sums " })).toMatchObject({
    query: {},
    same_numbers: false,
    most_pass_rate: 0.9,
    near: 0.6,
    answer_format: "",
    max_tokens: 512,
    reward: "right@2",
    into: { name: "More sums" },
  });
  expect(synthesisOf(asked, { ...NO_SYNTHESIS, into: " " })).toBeNull();
  expect(synthesisOf(asked, { ...NO_SYNTHESIS, most: 40 })).toBeNull();
});

it("tells what was refused with its reason, and that there is no version", () => {
  renderWith(<SynthesisFound report={REPORT} made={null} />);
  expect(screen.getByText("Nothing was kept: no version was created.")).toBeTruthy();
  const refused = screen.getByRole("region", { name: "Rejected variations", hidden: true });
  expect(within(refused).getByText("Different numbers")).toBeTruthy();
  expect(within(refused).getByText("It lacks 3 and has 4.")).toBeTruthy();
  expect(refused.textContent).toContain("and 1 more");
});
