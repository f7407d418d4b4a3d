import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import type { Rehearsal, RehearsalSample } from "@/api/model";
import { renderWith } from "@/test/render";
import { RehearsalView } from "./RehearsalPage";

const sample = (text: string, reward: number | null, more: Partial<RehearsalSample> = {}): RehearsalSample => ({
  text,
  tokens: 5,
  thinking_tokens: 2,
  finish_reason: "stop",
  reward,
  parts: reward === null ? {} : { right: reward },
  reasons: reward === null ? {} : { right: "The answer has no \\boxed{}." },
  error: reward === null ? "right: broken" : null,
  forgiven: [],
  ...more,
});

const DONE: Rehearsal = {
  id: "rhs_1",
  state: "done",
  error: null,
  policy: "small",
  prompts: 1,
  samples: 3,
  cluster: null,
  placed_on: "far",
  created_at: "2026-11-22T10:00:00Z",
  started_at: "2026-11-22T10:00:01Z",
  finished_at: "2026-11-22T10:01:00Z",
  created_by: "ada@example.com",
  spec: { thinking: { type: "tags", start: "<think>", end: "</think>" } },
  ahead: 0,
  progress: null,
  step_time: null,
  report: {
    groups: [
      {
        source: "add",
        dataset: "sums@1",
        row: 7,
        prompt_tokens: 3,
        pieces: [
          { text: "<s>", control: true },
          { text: "1+", control: false },
          { text: "1\n", control: false },
        ],
        left_out: 0,
        answer: "2",
        samples: [
          sample("<think>hm</think>It is 2.", 1),
          sample("<think>hm", 0, { finish_reason: "length" }),
          sample("2", null),
        ],
      },
    ],
    findings: [],
    template_sha256: "0123456789abcdef",
    signal_share: 1,
    cut_share: 1 / 3,
    speed: { start_s: 9, generate_s: 2, reward_s: 1, tokens_per_s: 100, running: 4, prompt_tokens: 3, peak: null },
  },
};

it("shows prompts as the policy sees them, and every grade with its reason", async () => {
  renderWith(<RehearsalView rehearsal={DONE} />);
  expect(screen.getByRole("heading", { name: "Dry run of small" })).toBeTruthy();
  expect(screen.getByTestId("too-few")).toBeTruthy();
  expect(screen.queryByTestId("no-findings")).toBeNull();
  expect(screen.getByTestId("rehearsal-group").textContent).toContain("add, row 7");
  const prompt = screen.getByRole("region", { name: "Prompt" });
  expect(prompt.textContent).toContain("<s>1+1↵");
  const [first, second, third] = screen.getAllByTestId("rehearsal-sample") as [HTMLElement, HTMLElement, HTMLElement];
  expect(within(first).getByRole("region", { name: "Thinking of sample 1" }).textContent).toContain("hm");
  expect(within(first).getByRole("region", { name: "Answer of sample 1" }).textContent).toContain("It is 2.");
  expect(first.textContent).toContain("The answer has no \\boxed{}.");
  expect(second.textContent).toContain("truncated");
  expect(second.textContent).toContain("never closed");
  expect(second.textContent).toContain("None.");
  expect(third.textContent).toContain("no reward");
  expect(within(third).getByRole("alert").textContent).toContain("right: broken");

  await userEvent.setup().click(screen.getByRole("switch", { name: "Token by token" }));
  expect(
    within(prompt)
      .getAllByText(/./)
      .filter(node => node.className !== ""),
  ).toHaveLength(3);
});

it("shows why one has failed, and no report", () => {
  renderWith(<RehearsalView rehearsal={{ ...DONE, state: "failed", error: "No GPU is free.", report: null }} />);
  expect(screen.getByRole("alert").textContent).toContain("No GPU is free.");
  expect(screen.queryByText("Prompts and samples")).toBeNull();
});
