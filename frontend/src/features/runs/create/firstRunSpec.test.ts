import { expect, it } from "vitest";
import type { Policy, Recipe, Spec } from "@/api/model";
import { looksHeldOut, nameOfRun, presetFor, specOf, withSource } from "./firstRunSpec";

const recipe = (name: string) => ({ name }) as Recipe;
const RECIPES = ["demo", "grpo", "grpo-gsm8k-qwen3-0.6b", "grpo-gsm8k-qwen3-1.7b", "grpo-gsm8k-qwen3-8b"].map(recipe);

it.each([
  [600_000, "grpo"],
  [596_000_000, "grpo-gsm8k-qwen3-0.6b"],
  [1_720_000_000, "grpo-gsm8k-qwen3-1.7b"],
  [8_190_000_000, "grpo-gsm8k-qwen3-8b"],
])("takes the preset of the policy's size: %d", (parameters, name) => {
  expect(presetFor(parameters, RECIPES)?.name).toBe(name);
});

it("takes the first preset where that one is not installed", () => {
  expect(presetFor(600_000, [recipe("demo")])?.name).toBe("demo");
  expect(presetFor(600_000, [])).toBeUndefined();
});

const BASE: Spec = {
  policy: { base: "starter", dtype: "float32" },
  data: {
    sources: [
      { name: "add", dataset: "add@1", weight: 0.6, format: { chat: true } },
      { name: "mul", dataset: "mul@1", weight: 0.4 },
    ],
    seed: 1,
  },
  reward: { definition: "calculation@1", on_error: "exclude" },
  schedule: { steps: 40, prompts_per_step: 16 },
  evaluation: { every_steps: 10, sources: [{ name: "add", dataset: "eval@1" }] },
};
const ANSWERS = { policy: { slug: "mine" } as Policy, data: "gsm8k@2", heldOut: null, reward: "right@1", steps: 20 };

it("changes what was answered and nothing else", () => {
  expect(specOf(BASE, ANSWERS)).toEqual({
    policy: { base: "mine", dtype: "float32" },
    data: { sources: [{ name: "gsm8k", dataset: "gsm8k@2", weight: 1, format: { chat: true } }], seed: 1 },
    reward: { definition: "right@1", on_error: "exclude" },
    schedule: { steps: 20, prompts_per_step: 16 },
    evaluation: { every_steps: 10, sources: [] },
  });
  expect(specOf(BASE, { ...ANSWERS, heldOut: "gsm8k-test@1" }).evaluation).toEqual({
    every_steps: 10,
    sources: [{ name: "gsm8k-test", dataset: "gsm8k-test@1", format: null }],
  });
});

it("tells held-out rows by the names that people give them", () => {
  const held = ["gsm8k-test@1", "gsm8k-eval-mul@1", "val@3", "maths_dev@1"];
  expect(held.filter(ref => looksHeldOut({ ref }))).toEqual(held);
  expect(["gsm8k@1", "contest@1", "evaluated-rows@1"].filter(ref => looksHeldOut({ ref }))).toEqual([]);
});

it("puts one version in the place of the sources, with the format of the first, and leaves out their stages", () => {
  const stages = [{ name: "school", sources: [{ name: "mul", weight: 1 }] }];
  const base = { ...BASE, data: { ...(BASE.data as object), stages } } as Spec;
  expect(withSource(base, "gsm8k@2")).toEqual({
    ...BASE,
    data: {
      sources: [{ name: "gsm8k", dataset: "gsm8k@2", weight: 1, format: { chat: true } }],
      seed: 1,
      stages: [],
    },
  });
});

it("names the run by model and data, within what a name may be", () => {
  expect(nameOfRun({ policy: { name: "Starter" } as Policy, data: "gsm8k@2" })).toBe("Starter on gsm8k");
  expect(nameOfRun({ policy: { name: "x".repeat(130) } as Policy, data: "gsm8k@2" })).toHaveLength(120);
});
