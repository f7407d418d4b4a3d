/** The spec that four answers amount to. */
import type { DatasetVersion, Json, Policy, Recipe, Spec } from "@/api/model";
import { getIn, setIn } from "@/features/schema-form/pointer";
import { isObject } from "@/features/schema-form/schema";

export interface Answers {
  policy: Policy;
  /** `slug@number` of the rows that are learned from, and of held-out ones, if there are any. */
  data: string;
  heldOut: string | null;
  /** `slug@number` */
  reward: string;
  steps: number;
}

/** Up to so many parameters the presets of the starter policy fit: short answers, small batches, float32. */
const SMALL = 50_000_000;
const PRESETS = [
  { upTo: SMALL, name: "grpo" },
  { upTo: 1_200_000_000, name: "grpo-gsm8k-qwen3-0.6b" },
  { upTo: 4_000_000_000, name: "grpo-gsm8k-qwen3-1.7b" },
  { upTo: Infinity, name: "grpo-gsm8k-qwen3-8b" },
];

/** GRPO at the policy's size; the first preset where an installation has not that one. */
export function presetFor(parameters: number, recipes: Recipe[]): Recipe | undefined {
  const name = PRESETS.find(preset => parameters <= preset.upTo)?.name;
  return recipes.find(recipe => recipe.name === name) ?? recipes[0];
}

/**
 * @param base the preset with all defaults
 */
export function specOf(base: Spec, { policy, data, heldOut, reward, steps }: Answers): Spec {
  const before = getIn(base as Json, ["data", "sources", 0]);
  const source = { ...(isObject(before) ? before : {}), name: nameOf(data), dataset: data, weight: 1 };
  const evaluated = heldOut === null ? [] : [{ name: nameOf(heldOut), dataset: heldOut, format: null }];
  const changes: [string[], Json][] = [
    [["policy", "base"], policy.slug],
    [["data", "sources"], [source]],
    [["reward", "definition"], reward],
    [["schedule", "steps"], steps],
    [["evaluation", "sources"], evaluated],
  ];
  return changes.reduce<Json>((spec, [path, value]) => setIn(spec, path, value), base as Json) as Spec;
}

/**
 * The spec over one version in the place of its first source, whose format it keeps; other sources and stages, which
 * name them, are left out.
 *
 * @param base the preset with all defaults
 * @param dataset `slug@number`
 */
export function withSource(base: Spec, dataset: string): Spec {
  const before = getIn(base as Json, ["data", "sources", 0]);
  const source = { ...(isObject(before) ? before : {}), name: nameOf(dataset), dataset, weight: 1 };
  const spec = setIn(base as Json, ["data", "sources"], [source]);
  const stages = getIn(spec, ["data", "stages"]);
  return (Array.isArray(stages) && stages.length > 0 ? setIn(spec, ["data", "stages"], []) : spec) as Spec;
}

/** Rows that look like the held-out ones of a dataset, by its name. */
export const looksHeldOut = ({ ref }: Pick<DatasetVersion, "ref">) =>
  /(^|[-_])(eval|test|val|valid|dev)([-_@]|$)/.test(ref);

/** The run's name: people tell their first runs apart by model and data. */
export const nameOfRun = ({ policy, data }: Pick<Answers, "policy" | "data">) =>
  `${policy.name} on ${nameOf(data)}`.slice(0, 120);

/** A source's name out of `slug@number`. */
const nameOf = (ref: string) => ref.replace(/@.*$/, "");
