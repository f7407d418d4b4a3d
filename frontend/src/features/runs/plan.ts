/** What the platform predicts for a spec: time, idle shares, and the best split of GPUs in each mode. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { http } from "@/api/http";
import type { Spec } from "@/api/model";
import { formatDuration } from "@/lib/format";

export interface ModePlan {
  mode: "sync" | "streamed" | "async" | "in_flight";
  max_staleness: number;
  rollout_gpus: number;
  learner_gpus: number;
  unused_gpus: number;
  step_seconds: number;
  total_seconds: number;
  engine_idle_share: number;
  learner_idle_share: number;
  tokens_per_s: number;
  gpu_hours: number;
}

export interface Plan {
  gpus: number;
  source: string;
  run: string | null;
  mean_tokens: number;
  current: ModePlan;
  modes: ModePlan[];
}

export const planQuery = (spec: Spec, gpus: number, enabled: boolean) =>
  queryOptions({
    queryKey: ["spec", "plan", spec, gpus],
    queryFn: ({ signal }) => http<Plan>({ url: "/api/v1/spec/plan", method: "POST", data: { spec, gpus }, signal }),
    enabled,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
    staleTime: 60_000,
    retry: false,
  });

/** Workers that the spec itself asks for, two at least. */
export function ownGpus(spec: Spec): number {
  const parts = spec.parallelism as { rollout_workers?: number; learner_ranks?: number } | undefined;
  return Math.max(2, (parts?.rollout_workers ?? 1) + (parts?.learner_ranks ?? 1));
}

/** A step's time: 171 ms, 4.25 s, 42 s, 3 min 05 s. */
export function stepTime(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 10 ? `${seconds.toFixed(2)} s` : formatDuration(seconds);
}

/** The fastest mode, or null where none is faster than another by a hundredth. */
export function fastest(modes: ModePlan[]): ModePlan | null {
  const best = [...modes].sort((one, other) => one.step_seconds - other.step_seconds)[0];
  return best && modes.some(mode => mode.step_seconds > best.step_seconds * 1.01) ? best : null;
}
