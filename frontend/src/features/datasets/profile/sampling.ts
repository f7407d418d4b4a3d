/** What forms ask of a profile next to its policy, as a spec over one version; and its cost in words. */
import type { Dataset, DatasetVersion, ProfileCost, Spec } from "@/api/model";
import { formatCount, formatDuration } from "@/lib/format";

export interface Sampling {
  reward: string | null;
  /** Samples per row, on average. */
  each: number | string;
  /** Tokens of the longest prompt. */
  prompt: number | string;
  /** Tokens of the longest answer. */
  tokens: number | string;
  chat: boolean;
}

export const NO_SAMPLING: Sampling = { reward: null, each: 12, prompt: 1024, tokens: 512, chat: true };

/** Where the faults of a refused profile stand, by fields. */
export const SAMPLING_AT = {
  reward: ["/spec/reward/definition"],
  each: ["/plan/budget"],
  prompt: ["/spec/rollout/engine/max_model_len"],
  tokens: ["/spec/rollout/max_tokens"],
};

export const isComplete = ({ reward, each, prompt, tokens }: Sampling) =>
  reward !== null && each !== "" && prompt !== "" && tokens !== "";

/** The spec of a profile. */
export function specOf(dataset: Dataset, version: DatasetVersion, policy: string | null, sampling: Sampling): Spec {
  const tokens = Number(sampling.tokens);
  const format = { chat: sampling.chat };
  return {
    policy: { base: policy ?? "" },
    reward: { definition: sampling.reward ?? "" },
    data: { sources: [{ name: "rows", dataset: `${dataset.slug}@${version.number}`, format }] },
    rollout: { max_tokens: tokens, engine: { max_model_len: Number(sampling.prompt) + tokens } },
  };
}

export function profileCostText(cost: ProfileCost): string {
  const time =
    cost.max_seconds === null
      ? "Duration unknown: no profile or dry run of this policy yet."
      : `${formatDuration(cost.min_seconds)} to ${formatDuration(cost.max_seconds)} on the cluster, based on the newest ${cost.measured_by === "rehearsal" ? "dry run" : (cost.measured_by ?? "")} of this policy.`;
  return (
    `${formatCount(cost.min_samples)} to ${formatCount(cost.max_samples)} samples of ${formatCount(cost.rows)} rows, ` +
    `${formatCount(cost.min_tokens)} to ${formatCount(cost.max_tokens)} tokens. ${time}`
  );
}
