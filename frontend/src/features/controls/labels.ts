/** Names of control targets for people. */
import { humanize } from "@/lib/format";

/** The target of all guards together. */
export const GUARDS = "guards";

const NAMES: Record<string, string> = {
  guards: "Guards",
  "thinking.budget": "Thinking budget",
  "optimizer.learning_rate": "Learning rate",
  "optimizer.max_grad_norm": "Gradient norm limit",
  "curriculum.min_pass_rate": "Minimum pass rate",
  "curriculum.max_pass_rate": "Maximum pass rate",
  "curriculum.explore": "Exploration share",
  "rollout.temperature": "Sampling temperature",
  "rollout.max_tokens": "Maximum completion length",
  "objective.noise": "NEFTune noise",
  "objective.sft_coefficient": "Supervised coefficient",
  "objective.loss.beta": "Preference β",
  "objective.loss.label_smoothing": "Label smoothing",
  "objective.loss.margin": "Target margin",
  "objective.loss.weight": "Odds ratio weight",
  "loss.ratio_min": "Ratio band, lower edge",
  "loss.ratio_max": "Ratio band, upper edge",
  "reward.definition": "Reward",
  "reward.shadow": "Shadow rewards",
  "kl.coefficient": "KL coefficient",
  "corrections.truncated_is.ratio_max": "Maximum importance weight",
};

export function targetLabel(path: string): string {
  const known = NAMES[path];
  if (known) return known;
  const source = /^data\.sources\.(.+)\.weight$/.exec(path);
  if (source) return `Weight of ${source[1]}`;
  const stage = /^data\.stages\.([^.]+)\.(.+)$/.exec(path);
  if (stage) return `${stageLabel(stage[2] ?? "")} in stage ${stage[1]}`;
  return humanize(path.split(".").slice(-2).join(" "));
}

/** The label inside a sentence or after a verb: "minimum pass rate", but "KL coefficient". */
export function targetPhrase(path: string): string {
  const label = targetLabel(path);
  return /^[A-Z][^A-Z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}

/** Labels of the fields of a data stage. */
function stageLabel(path: string): string {
  const source = /^sources\.(.+)\.weight$/.exec(path);
  if (source) return `Weight of ${source[1]}`;
  return NAMES[path.replace("band", "curriculum")] ?? humanize(path.replace(".", " "));
}

/** The source's name in `data.sources.<name>.weight`. */
export function weightSource(path: string): string | null {
  return /^data\.sources\.(.+)\.weight$/.exec(path)?.[1] ?? null;
}

export const BOUNDARIES: Record<string, string> = {
  group_dispatch: "Takes effect at the next dispatched prompt group",
  optimizer_step: "Takes effect at the next optimizer step",
};
