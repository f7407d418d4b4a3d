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

it("asks once all choices are there, for the numbers that the purpose keeps", () => {
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
    same_numbers: true,
    variations: 2,
    attempts: 4,
    least_pass_rate: 0.75,
    solver: null,
    seed: 0,
  });
  const other = synthesisOf(asked, { ...NO_SYNTHESIS, purpose: "distraction" });
  expect(other).toMatchObject({ same_numbers: false, query: {} });
});

it("tells what was refused with its reason, and that there is no version", () => {
  renderWith(<SynthesisFound report={REPORT} made={null} />);
  expect(screen.getByText("Nothing was kept: no version was made.")).toBeTruthy();
  const refused = screen.getByRole("region", { name: "Refused", hidden: true });
  expect(within(refused).getByText("Other numbers")).toBeTruthy();
  expect(within(refused).getByText("It lacks 3 and has 4.")).toBeTruthy();
  expect(refused.textContent).toContain("and 1 more");
});
