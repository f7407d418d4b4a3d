import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import type { Policy, PolicyFacts } from "@/api/model";
import { renderWith } from "@/test/render";
import { PolicyView } from "./PolicyPage";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const POLICY = {
  id: "pol_1",
  name: "Tiny",
  slug: "tiny",
  checkpoint: null,
  origin: { source: "hub", location: "tiny/policy", revision: "", commit: COMMIT },
  architecture: "Qwen3ForCausalLM",
  parameters: 600_000,
  bytes: 2048,
  vocab_size: 32,
  max_position_embeddings: 256,
  sha256: "ab",
  created_at: "2026-01-01T00:00:00Z",
  created_by: "someone@example.com",
} as Policy;
const FACTS: PolicyFacts = {
  contents: {
    format: 1,
    model_type: "qwen3",
    numbers: { bfloat16: 600_000 },
    layers: 2,
    hidden_size: 64,
    attention_heads: 4,
    key_value_heads: 2,
    experts: null,
    experts_per_token: null,
    sliding_window: null,
    tied_embeddings: true,
    chat_template: { text: "{{ messages }}", sha256: "cd", prompts_answers: false },
    thinking: { start: "<think>", end: "</think>" },
    special_tokens: { bos: null, eos: ["<end>"], pad: "<pad>", others: [] },
    licence: "apache-2.0",
  },
  fault: "",
  refusal: "",
  fits: [{ part: "LoRA", works: true, note: "It adapts q_proj." }],
  remarks: [],
  needs: [{ training: "all weights, bfloat16", learner_bytes: 1 << 30, engine_bytes: 1 << 20 }],
  needs_note: "One learner rank.",
};

it("shows what the files say, what works, and what it takes", async () => {
  renderWith(<PolicyView policy={POLICY} facts={FACTS} />);
  for (const text of [COMMIT, "tiny/policy", "bfloat16", "<think> … </think>", "apache-2.0", "<end>", "1.0 GiB"]) {
    expect(screen.getByText(text)).toBeTruthy();
  }
  expect(screen.getByText("It adapts q_proj.")).toBeTruthy();
  expect(screen.getByText(/ignores add_generation_prompt/)).toBeTruthy();
  const show = screen.getByRole("button", { name: "Show" });
  expect(show.getAttribute("aria-expanded")).toBe("false");
  await userEvent.setup().click(show);
  expect(screen.getByText("{{ messages }}")).toBeTruthy();
});

it("says why a policy cannot be trained or read", () => {
  const facts = { ...FACTS, contents: null, needs: [], fault: "There is no such folder.", refusal: "Choose another." };
  renderWith(<PolicyView policy={{ ...POLICY, origin: null }} facts={facts} />);
  expect(screen.getByText("There is no such folder.")).toBeTruthy();
  expect(screen.getByText("Choose another.")).toBeTruthy();
  expect(screen.getByText("a folder")).toBeTruthy();
  expect(screen.getByText(/its sizes are not known/)).toBeTruthy();
});
