/** The parts of a reward with what each adds to it and why: pure functions over documents. */
import type { Rollout } from "@/api/model";
import { decodeValue } from "@/entities/runs/points";

/** Parts that the run's shaping adds, next to the graders. */
const SHAPING: Record<string, string> = {
  overlong: "Penalty for answers close to their length limit.",
  length_shaping: "Added by the run's length shaping.",
  outlier: "Penalty for truncated answers.",
};

export interface Part {
  name: string;
  /** Null if the grader failed. */
  grade: number | null;
  /** Null in rollouts from before weights were kept. */
  weight: number | null;
  /** What it adds to the reward. */
  adds: number | null;
  reason: string | null;
}

type Explained = Record<string, { weight: number | string; reason?: string | null }>;

/** Parts in the order of the reward's definition, then those of the run's shaping. */
export function partsOf(grades: Rollout["reward_parts"], explanation: Explained | null): Part[] {
  const names = [...new Set([...Object.keys(explanation ?? {}), ...Object.keys(grades)])];
  return names.map(name => {
    const told = explanation?.[name];
    const shaping = told === undefined ? SHAPING[name] : undefined;
    const grade = name in grades ? decodeValue(grades[name]) : null;
    const weight = told ? Number(told.weight) : shaping ? 1 : null;
    return {
      name,
      grade,
      weight,
      adds: grade === null || weight === null ? null : weight * grade,
      reason: told?.reason ?? shaping ?? null,
    };
  });
}
