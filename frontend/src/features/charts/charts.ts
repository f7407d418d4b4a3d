/** The charts of a run, most important first. */
import type { Objective } from "@/entities/runs/objective";
import { type ChartSpec, DASHES, lines, perSource } from "./chartSpec";
import { PREFERENCE_CHARTS, SUPERVISED_CHARTS } from "./exampleCharts";

export { type ChartSpec, DASHES } from "./chartSpec";

/** Of runs that sample; and those that every run has. */
const SAMPLING_CHARTS: ChartSpec[] = [
  {
    id: "reward",
    title: "Reward",
    hint: "Mean reward of the step's rollouts; dots are held-out evaluations with fixed sampling settings.",
    lines: names => [
      { key: "critic/score/mean", label: "train", color: 0 },
      ...perSource(names, /^eval\/(.+)\/score\/mean$/, { rare: true, from: 1, label: source => `eval ${source}` }),
    ],
  },
  {
    id: "length",
    title: "Response length",
    hint: "Tokens per completion, including thinking. The stepped line is the thinking budget.",
    unit: "tokens",
    lines: lines(
      { key: "response_length/mean", label: "mean", color: 0 },
      { key: "response_length/p95", label: "p95", color: 4 },
      { key: "thinking/mean", label: "thinking", color: 2 },
      { key: "thinking/budget", label: "budget", color: 3, stepped: true },
    ),
  },
  {
    id: "pass-rate",
    title: "Pass rate by source",
    hint: "Share of successful samples, by prompt source.",
    lines: names => perSource(names, /^train\/pass_rate\/(.+)$/),
  },
  {
    id: "entropy",
    title: "Entropy",
    hint: "Mean entropy of the policy per sampled token. A fast drop means that exploration is ending.",
    unit: "nats",
    lines: lines({ key: "actor/entropy", label: "entropy", color: 0 }),
  },
  {
    id: "mismatch",
    title: "Engine–learner mismatch",
    hint: "KL (k3) between the engine's and the learner's probabilities of the sampled tokens, the largest difference of a single token, and the results of the probe after each weight update.",
    unit: "nats",
    log: true,
    lines: lines(
      { key: "rollout_corr/k3_kl", label: "KL", color: 0 },
      { key: "rollout_corr/max_abs_logp_diff", label: "max |Δ log p|", color: 1 },
      { key: "probe/max_abs_diff", label: "probe, max", color: 2 },
      { key: "probe/mean_abs_diff", label: "probe, mean", color: 3 },
      { key: "probe/noise_floor", label: "probe, noise", color: 4 },
    ),
  },
  {
    id: "mismatch-causes",
    title: "Mismatch by cause",
    hint: "Engine and learner regularly rescore some tokens at the same weights. This splits their difference into numerics, weight age, truncated sampling and prompt template.",
    unit: "nats",
    log: true,
    lines: names => perSource(names, /^rollout_corr\/cause\/(.+)$/, { rare: true }),
  },
  {
    id: "importance",
    title: "Importance ratio",
    hint: "Weights that correct for the mismatch, and the resulting effective sample size (right axis).",
    lines: lines(
      { key: "rollout_corr/rollout_is_mean", label: "mean", color: 0 },
      { key: "rollout_corr/rollout_is_max", label: "max", color: 1 },
      { key: "rollout_corr/rollout_is_eff_sample_size", label: "ESS", color: 2, axis: "right" },
    ),
  },
  {
    id: "throughput",
    title: "Throughput",
    hint: "Tokens per second over the whole step, and the engine's share of busy time (right axis).",
    unit: "tokens/s",
    lines: lines(
      { key: "perf/throughput", label: "tokens/s", color: 0 },
      { key: "perf/engine_busy_share", label: "engine busy", color: 1, axis: "right" },
    ),
  },
  {
    id: "load",
    title: "Engine load",
    hint: "Sequences running at the same time, and the share of the KV cache in use (right axis).",
    unit: "sequences",
    lines: lines(
      { key: "perf/running_sequences", label: "running", color: 0 },
      { key: "perf/kv_usage", label: "KV cache", color: 2, axis: "right" },
    ),
  },
  {
    id: "gradient",
    title: "Gradient norm and learning rate",
    hint: "Global norm before clipping; the learning rate on the right axis.",
    lines: lines(
      { key: "actor/grad_norm", label: "grad norm", color: 0 },
      { key: "actor/lr", label: "lr", color: 1, axis: "right", stepped: true },
    ),
  },
  {
    id: "signal",
    title: "Groups without signal",
    hint: "Share of groups with equal rewards: they teach nothing.",
    lines: lines({ key: "groups/zero_advantage_share", label: "share", color: 0 }),
  },
  {
    id: "staleness",
    title: "Staleness",
    hint: "Weight versions between generating a token and learning from it.",
    unit: "versions",
    lines: lines({ key: "staleness/mean", label: "mean", color: 0 }, { key: "staleness/max", label: "max", color: 1 }),
  },
  {
    id: "staleness-shares",
    title: "Tokens by staleness",
    hint: "Share of trained tokens by the number of weight versions between generating them and learning from them.",
    lines: names => perSource(names, /^staleness\/share\/(\d+)$/, { label: versions => `${versions} old` }),
  },
  {
    id: "carried",
    title: "Partial rollouts",
    hint: "Unfinished completions interrupted when the batch was full, and those resumed under newer weights.",
    lines: lines(
      { key: "rollouts/parked", label: "interrupted", color: 1 },
      { key: "rollouts/continued", label: "resumed", color: 0 },
    ),
  },
  {
    id: "policy",
    title: "Policy update",
    hint: "How far one update moves the policy, and the share of tokens outside the ratio band (right axis).",
    lines: lines(
      { key: "actor/ppo_kl", label: "KL to old policy", color: 0 },
      { key: "actor/pg_clipfrac", label: "clipped", color: 1, axis: "right" },
    ),
  },
  {
    id: "time",
    title: "Step time",
    hint: "Time spent in each phase. Phases overlap in asynchronous runs.",
    unit: "s",
    lines: lines(
      { key: "timing_s/step", label: "step", color: 0 },
      { key: "timing_s/generate", label: "generate", color: 1 },
      { key: "timing_s/learn", label: "learn", color: 2 },
      { key: "timing_s/sync", label: "sync", color: 3 },
    ),
  },
  {
    id: "reward-parts",
    title: "Reward parts",
    hint: "Mean of each component, before weighting.",
    lines: names => perSource(names, /^reward_parts\/(.+)\/mean$/),
  },
  {
    id: "shadow",
    title: "Shadow rewards",
    hint: "Mean reward of the step's rollouts under shadow versions, next to the training reward (first line).",
    lines: names => {
      const shadows = perSource(names, /^reward_shadow\/(.+)\/mean$/, { from: 1 });
      return shadows.length > 0 ? [{ key: "critic/score/mean", label: "training", color: 0 }, ...shadows] : [];
    },
  },
  {
    id: "shadow-agreement",
    title: "Agreement with shadow rewards",
    hint: "Share of rollouts that a shadow and the training reward both call correct or both incorrect; correlation of their rewards on the right axis.",
    lines: names => [
      ...perSource(names, /^reward_shadow\/(.+)\/agreement$/),
      ...perSource(names, /^reward_shadow\/(.+)\/correlation$/, { axis: "right", from: 2, label: ref => `r, ${ref}` }),
    ],
  },
  {
    id: "length-bias",
    title: "Judge length bias",
    hint: "Partial correlation of the judge's grade with length, at fixed reward of all other parts. Far above 0, the judge rewards length.",
    unit: "correlation",
    lines: lines({ key: "reward/length_bias", label: "length bias", color: 1 }),
  },
  {
    id: "judge-latency",
    title: "Judge latency",
    hint: "Response time of the judge's endpoint; share answered from the cache on the right axis.",
    unit: "s",
    lines: lines(
      { key: "judge/latency_p50", label: "p50", color: 0 },
      { key: "judge/latency_p95", label: "p95", color: 1 },
      { key: "judge/cached_share", label: "cached", color: 2, axis: "right" },
    ),
  },
  {
    id: "judge-use",
    title: "Judge requests",
    hint: "Requests per step, and failures; cost on the right axis, if prices are known.",
    lines: lines(
      { key: "judge/calls", label: "requests", color: 0 },
      { key: "judge/errors", label: "failed", color: 1 },
      { key: "judge/cost", label: "cost", color: 4, axis: "right" },
    ),
  },
  {
    id: "judge-agreement",
    title: "Judge agreement",
    hint: "How often the judge repeats its verdict when asked again, and with criteria in reverse order. 1 is always.",
    lines: lines(
      { key: "judge/agreement_repeat", label: "repeated", color: 0, rare: true },
      { key: "judge/agreement_swap", label: "swapped", color: 1, rare: true },
    ),
  },
  {
    id: "truncated",
    title: "Truncated and failed",
    hint: "Shares of completions that hit the maximum length, hit the thinking budget, or whose reward failed.",
    lines: lines(
      { key: "response_length/clip_ratio", label: "truncated", color: 0 },
      { key: "thinking/budget_hit_share", label: "budget hit", color: 1 },
      { key: "reward/error_share", label: "reward errors", color: 2 },
    ),
  },
  {
    id: "data-share",
    title: "Mixture",
    group: "Data",
    hint: "Share of completed groups per step, by source, including groups replaced by dynamic sampling; data stage on the right axis.",
    lines: names => [
      ...perSource(names, /^data\/share\/(.+)$/),
      { key: "curriculum/stage", label: "stage", color: 5, dash: DASHES[3], stepped: true, axis: "right" },
    ],
  },
  {
    id: "data-pass-rate",
    title: "Pass rate of all groups",
    group: "Data",
    hint: "Share of successful samples in all completed groups, by source. Pass rate by source covers only trained groups.",
    lines: names => perSource(names, /^data\/pass_rate\/(.+)$/),
  },
  {
    id: "data-all-wrong",
    title: "Groups with no correct sample",
    group: "Data",
    hint: "Share of a source's groups whose samples are all incorrect: too hard for now, or misgraded.",
    lines: names => perSource(names, /^data\/all_wrong\/(.+)$/),
  },
  {
    id: "data-all-right",
    title: "Groups with no incorrect sample",
    group: "Data",
    hint: "Share of a source's groups whose samples are all correct: nothing is left to learn from them.",
    lines: names => perSource(names, /^data\/all_right\/(.+)$/),
  },
  {
    id: "difficulty-share",
    title: "Mixture by difficulty",
    group: "Data",
    hint: "Share of completed groups per step, by their prompt's previous pass rate, from earlier groups or a profile.",
    lines: names => perSource(names, /^difficulty\/share\/(.+)$/, { label: bandLabel }),
  },
  {
    id: "difficulty-pass-rate",
    title: "Pass rate by difficulty",
    group: "Data",
    hint: "Share of successful samples, by their prompt's previous pass rate. Lines above their own band show what was learned since.",
    lines: names => perSource(names, /^difficulty\/pass_rate\/(.+)$/, { label: bandLabel }),
  },
  {
    id: "difficulty-all-wrong",
    title: "No correct sample, by difficulty",
    group: "Data",
    hint: "Share of groups whose samples are all incorrect, by their prompt's previous pass rate.",
    lines: names => perSource(names, /^difficulty\/all_wrong\/(.+)$/, { label: bandLabel }),
  },
  {
    id: "difficulty-all-right",
    title: "No incorrect sample, by difficulty",
    group: "Data",
    hint: "Share of groups whose samples are all correct, by their prompt's previous pass rate.",
    lines: names => perSource(names, /^difficulty\/all_right\/(.+)$/, { label: bandLabel }),
  },
];

function bandLabel(band: string): string {
  return band === "untried" ? "never sampled" : `${band.replace("-", "–")} %`;
}

/** All charts. One is shown if the run reports a metric of it: no run reports those of all objectives. */
export const CHARTS: ChartSpec[] = [...SUPERVISED_CHARTS, ...PREFERENCE_CHARTS, ...SAMPLING_CHARTS];

/** Charts of a run that has not reported anything yet. */
export function expectedCharts(objective: Objective): ChartSpec[] {
  if (objective === "rl") return SAMPLING_CHARTS;
  return objective === "sft" ? SUPERVISED_CHARTS : PREFERENCE_CHARTS;
}

/** Every metric that some chart draws, for one query. */
export function chartKeys(names: string[]): string[] {
  const known = new Set(names);
  const keys = CHARTS.flatMap(chart => chart.lines(names).map(line => line.key)).filter(key => known.has(key));
  return [...new Set(keys)].sort();
}
