import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Explanation } from "@/api/model";
import { renderWith } from "@/test/render";
import { ExplainPanel } from "./ExplainPanel";

const EXPLANATION: Explanation = {
  batch: {
    prompts_per_step: 8,
    samples_per_prompt: 4,
    samples_per_step: 32,
    tokens_per_step: 320,
    epochs: 3,
    updates_per_step: 2,
    prompts_per_update: 4,
    samples_per_update: 16,
    tokens_per_update: 160,
    steps: 10,
    samples: 320,
    updates: 60,
  },
  bands: [],
  methods: [],
  watch: [],
  memory: null,
  remarks: ["With one update per step, the clip never acts."],
};

it("says how often a batch is passed over, and what the spec asks for and does not get", () => {
  renderWith(<ExplainPanel explanation={EXPLANATION} />);
  expect(screen.getByText("60 updates on 320 samples in 10 steps, 3 passes over each batch.")).toBeTruthy();
  expect(screen.getByRole("alert").textContent).toBe("With one update per step, the clip never acts.");
});

it("says neither where each batch is passed over once and all of the spec acts", () => {
  renderWith(
    <ExplainPanel explanation={{ ...EXPLANATION, batch: { ...EXPLANATION.batch, epochs: 1 }, remarks: [] }} />,
  );
  expect(screen.getByText("60 updates on 320 samples in 10 steps.")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("counts pairs instead of samples where nothing is sampled", () => {
  renderWith(<ExplainPanel explanation={{ ...EXPLANATION, remarks: [] }} objective="preference" />);
  expect(screen.getAllByRole("columnheader").map(head => head.textContent)).toEqual(["Batch", "Pairs", "Tokens ≤"]);
  expect(screen.getByText("60 updates on 80 pairs in 10 steps, 3 passes over each batch.")).toBeTruthy();
});
