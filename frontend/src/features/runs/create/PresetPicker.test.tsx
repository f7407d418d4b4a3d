import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import type { Recipe } from "@/api/model";
import { renderWith } from "@/test/render";
import { PresetPicker } from "./PresetPicker";

const small = (name: string): Recipe => ({ name, title: name, description: "Small.", spec: {}, published: null });
const REAL: Recipe = {
  name: "grpo-8b",
  title: "GRPO on GSM8K",
  description: "Large.",
  spec: { policy: { base: "qwen3-8b" } },
  published: {
    model: "Qwen/Qwen3-8B",
    machine: "8× H100 80 GB",
    datasets: { gsm8k: "GSM8K's train.jsonl, as it is" },
    rewards: { "math-boxed": { components: [] } },
    architecture: "qwen3",
    prompt_tokens: 150,
    lengths: {},
  },
};
const RECIPES = [..."abcdefghi"].map(small).concat(REAL);
const names = () => screen.getAllByRole("radio", { name: /Small|Large/ }).map(one => one.dataset.testid);

it("shows presets of one size at a time, real ones with model and machine", async () => {
  const user = userEvent.setup();
  const onChange = vi.fn();
  const { update } = renderWith(<PresetPicker recipes={RECIPES} value="a" onChange={onChange} />);
  expect(names()).toHaveLength(9);
  expect(screen.queryByTestId("preset-needs")).toBeNull();

  await user.click(screen.getByText("Real models"));
  expect(names()).toEqual(["preset-grpo-8b"]);
  expect(screen.getByTestId("preset-grpo-8b").textContent).toContain("Qwen3-8B · 8× H100 80 GB");
  await user.type(screen.getByLabelText("Search presets"), "h100");
  await user.click(screen.getByTestId("preset-grpo-8b"));
  expect(onChange).toHaveBeenCalledWith("grpo-8b");

  update(<PresetPicker recipes={RECIPES} value="grpo-8b" onChange={onChange} />);
  const needs = within(screen.getByTestId("preset-needs"));
  expect(needs.getAllByRole("listitem").map(one => one.textContent)).toEqual([
    "The policy qwen3-8b: Qwen/Qwen3-8B from the Hugging Face hub.",
    "The dataset gsm8k: GSM8K's train.jsonl, as it is.",
    'The reward math-boxed: {"components":[]}',
  ]);
});

it("opens with the size of the preset that is chosen", () => {
  renderWith(<PresetPicker recipes={RECIPES} value="grpo-8b" onChange={() => undefined} />);
  expect(names()).toEqual(["preset-grpo-8b"]);
});
