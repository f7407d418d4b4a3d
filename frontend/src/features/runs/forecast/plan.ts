/** What the platform predicts for a spec: time, idle shares, and the best split of GPUs in each mode. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { GpuEnum, ModePlan, Spec } from "@/api/model";
import { objectiveOf } from "@/entities/runs/objective";
import { formatDuration } from "@/lib/format";

export const planQuery = (spec: Spec, gpus: number, enabled: boolean) =>
  queryOptions({
    queryKey: ["spec", "plan", spec, gpus],
    queryFn: ({ signal }) => api.planSpec({ spec, gpus }, { signal }),
    enabled,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
    staleTime: 60_000,
    retry: false,
  });

/** Kinds of GPU that the platform knows the makers' figures of. */
export const GPU_KINDS = Object.keys({
  A100: true,
  H100: true,
  H800: true,
  H20: true,
  H200: true,
  B200: true,
} satisfies Record<GpuEnum, true>) as GpuEnum[];

export const clusterPlanQuery = (spec: Spec, gpu: GpuEnum, price: number | null, enabled: boolean) =>
  queryOptions({
    queryKey: ["spec", "plan", "clusters", spec, gpu, price],
    queryFn: ({ signal }) => api.planSpecOnClusters({ spec, gpu, ...(price === null ? {} : { price }) }, { signal }),
    enabled,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
    staleTime: 60_000,
    retry: false,
  });

/** Workers that the spec itself asks for; with rollout engines, two at least. */
export function ownGpus(spec: Spec): number {
  const parts = spec.parallelism as { rollout_workers?: number; learner_ranks?: number } | undefined;
  if (objectiveOf(spec) !== "rl") return parts?.learner_ranks ?? 1;
  return Math.max(2, (parts?.rollout_workers ?? 1) + (parts?.learner_ranks ?? 1));
}

/** A step's time: 171 ms, 4.25 s, 42 s, 3 min 05 s. */
export function stepTime(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 10 ? `${seconds.toFixed(2)} s` : formatDuration(seconds);
}

/** The fastest mode, or null if none is faster than another by a hundredth. */
export function fastest(modes: ModePlan[]): ModePlan | null {
  const best = [...modes].sort((one, other) => one.step_seconds - other.step_seconds)[0];
  return best && modes.some(mode => mode.step_seconds > best.step_seconds * 1.01) ? best : null;
}
