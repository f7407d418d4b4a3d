/** A Goldilocks job: its form, its request, and texts for its costs and results. */
import type { Dataset, DatasetVersion, Goldilocks, GoldilocksReport, GoldilocksStageCost, Spec } from "@/api/model";
import { formatCount, formatPercent } from "@/lib/format";
import { isComplete, NO_SAMPLING, profileCostText, type Sampling, SAMPLING_AT, specOf } from "./sampling";

export type Band = [number, number];

export interface GoldilocksFields {
  /** Both stages, or stage one only. */
  both: boolean;
  first: string | null;
  second: string | null;
  firstBand: Band;
  secondBand: Band;
  mayReturn: boolean;
  leaveOutSuspects: boolean;
  reuse: boolean;
  /** Name of the dataset that is made; null: the next version of the same. */
  into: string | null;
  sampling: Sampling;
  /** The request of the stage one that is continued. Its other settings hold for stage two. */
  base: Spec | null;
  threshold: number | null;
}

export const NO_GOLDILOCKS: GoldilocksFields = {
  both: true,
  first: null,
  second: null,
  firstBand: [0.05, 0.95],
  secondBand: [0.05, 0.95],
  mayReturn: true,
  leaveOutSuspects: true,
  reuse: true,
  into: null,
  sampling: NO_SAMPLING,
  base: null,
  threshold: null,
};

/** Where the faults of a refused goldilocks stand, by fields. */
export const GOLDILOCKS_AT = {
  first: ["/spec/policy/base"],
  second: ["/second/policy"],
  firstBand: ["/plan"],
  secondBand: ["/second/plan"],
  ...SAMPLING_AT,
  each: ["/plan/budget", "/second/plan/budget"],
  into: ["/into/slug", "/into/name", "/into"],
};

export const isReady = ({ both, first, second, into, sampling }: GoldilocksFields) =>
  first !== null && (!both || second !== null) && into?.trim() !== "" && isComplete(sampling);

/** The request. */
export function goldilocksOf(dataset: Dataset, version: DatasetVersion, fields: GoldilocksFields) {
  const plan = ([min_pass_rate, max_pass_rate]: Band) => ({
    budget: Number(fields.sampling.each) * version.rows,
    min_pass_rate,
    max_pass_rate,
  });
  return {
    spec: onBase(fields.base, specOf(dataset, version, fields.first, fields.sampling)),
    plan: plan(fields.firstBand),
    second: fields.both ? { policy: fields.second ?? "", plan: plan(fields.secondBand) } : null,
    outside_first: fields.mayReturn ? ("may_return" as const) : ("stay_out" as const),
    suspects: fields.leaveOutSuspects ? ("leave_out" as const) : ("keep" as const),
    reuse: fields.reuse,
    threshold: fields.threshold,
    into: fields.into === null ? null : { name: fields.into.trim() },
  };
}

/** The form of stage two behind a stage one that is done: all as it was, without the second policy. */
export function stageTwoOf(job: Goldilocks, version: DatasetVersion): GoldilocksFields {
  const spec = job.spec as {
    reward: { definition: string };
    data: { sources: { format: { chat: boolean } }[] };
    rollout: { max_tokens: number; engine: { max_model_len: number } };
  };
  const [stage] = job.stages;
  const band: Band = [stage?.plan.min_pass_rate ?? 0.05, stage?.plan.max_pass_rate ?? 0.95];
  return {
    ...NO_GOLDILOCKS,
    first: stage?.policy ?? null,
    firstBand: band,
    secondBand: band,
    leaveOutSuspects: job.suspects === "leave_out",
    sampling: {
      reward: spec.reward.definition,
      each: Math.round((stage?.plan.budget ?? 0) / Math.max(1, version.rows)),
      prompt: spec.rollout.engine.max_model_len - spec.rollout.max_tokens,
      tokens: spec.rollout.max_tokens,
      chat: spec.data.sources[0]?.format.chat ?? true,
    },
    base: job.spec,
    threshold: job.threshold,
  };
}

export const STAGE_WORDS = { first: "Stage one", second: "Stage two" } as const;

export const REASON_WORDS = {
  never: "never solved",
  always: "always solved",
  harder: "harder than the band",
  easier: "easier than the band",
  untried: "without a graded sample",
} as const;

export function stageCostText({ stage, policy, reuses, samples, cost }: GoldilocksStageCost): string {
  const who = `${STAGE_WORDS[stage]}, ${policy}: `;
  if (cost) return who + profileCostText(cost);
  if (reuses === "first") return `${who}reuses the measurements of stage one at no cost.`;
  return `${who}reuses a stored profile of ${formatCount(samples ?? 0)} samples at no cost.`;
}

/** The results of one policy. */
export function stageText({
  inside,
  outside,
  min_pass_rate,
  max_pass_rate,
}: GoldilocksReport["stages"][number]): string {
  const parts = outside.map(({ reason, rows }) => `${formatCount(rows)} ${REASON_WORDS[reason]}`);
  const band = `${formatPercent(min_pass_rate)} to ${formatPercent(max_pass_rate)}`;
  return `${formatCount(inside)} inside ${band}${parts.length > 0 ? `; ${parts.join(", ")}` : ""}`;
}

function onBase(base: Spec | null, spec: Spec): Spec {
  if (base === null) return spec;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(spec)) {
    const before = merged[key];
    merged[key] = isPlain(before) && isPlain(value) ? onBase(before as Spec, value as Spec) : value;
  }
  const [source] = (base.data as { sources: { format: object }[] } | undefined)?.sources ?? [];
  const [asked] = (spec.data as { sources: { format: object }[] } | undefined)?.sources ?? [];
  if (source && asked)
    merged.data = { ...(base.data as object), sources: [{ ...source, format: { ...source.format, ...asked.format } }] };
  return merged as Spec;
}

const isPlain = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
