/** Steps at which a guard would have acted, by the values that a run has reported. As the worker counts them. */
import type { Json } from "@/api/model";

/** A guard of the spec, with the fields that the card uses. */
export type Guard = {
  type: string;
  name: string;
  metric: string;
  action: string;
  why?: string;
  min?: number | null;
  max?: number | null;
  max_rise?: number | null;
  max_fall?: number | null;
  window?: number;
  tolerance?: number;
  for_steps: number;
  unless_solved?: boolean;
  muted_until?: number | null;
  severity?: string;
  change?: Json;
};

export const keyOf = (guard: Guard) => guard.name || guard.metric;

/** Whether the steps of a guard can be told from its metric alone. */
export function isReplayable(guard: Guard): boolean {
  return guard.type !== "held_out_falls";
}

/** The steps at which it would have started to act. */
export function wouldFire(guard: Guard, steps: number[], values: (number | null)[]): number[] {
  const past: number[] = [];
  const found: number[] = [];
  const patience = guard.type === "metric_stuck" ? 1 : guard.for_steps;
  let outside = 0;
  values.forEach((value, index) => {
    if (value === null) return;
    outside = objects(guard, value, past) ? outside + 1 : 0;
    if (outside === patience) found.push(steps[index] as number);
    // What it objects to is none of what later values are compared with until it has acted.
    if (outside === 0 || outside >= patience) past.push(value);
  });
  return found;
}

function objects(guard: Guard, value: number, past: number[]): boolean {
  switch (guard.type) {
    case "metric_change": {
      const window = past.slice(-(guard.window ?? 20));
      if (window.length < (guard.window ?? 20)) return false;
      const mean = window.reduce((sum, one) => sum + one, 0) / window.length;
      const rise = value - mean;
      return beyond(rise, guard.max_rise, mean) || beyond(-rise, guard.max_fall, mean);
    }
    case "metric_stuck": {
      const last = [...past.slice(-(guard.for_steps - 1)), value];
      return last.length === guard.for_steps && Math.max(...last) - Math.min(...last) <= (guard.tolerance ?? 0);
    }
    default:
      return (isNumber(guard.min) && value < guard.min) || (isNumber(guard.max) && value > guard.max);
  }
}

const isNumber = (value: unknown): value is number => typeof value === "number";
const beyond = (change: number, share: number | null | undefined, mean: number) =>
  isNumber(share) && change > share * Math.abs(mean);

/** "below 0.05 or above 2, for 3 steps". */
export function limitWords(guard: Guard): string {
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const parts = [
    isNumber(guard.min) ? `below ${guard.min}` : "",
    isNumber(guard.max) ? `above ${guard.max}` : "",
    isNumber(guard.max_rise) ? `${percent(guard.max_rise)} above its mean of ${guard.window} steps` : "",
    isNumber(guard.max_fall) && guard.type === "metric_change" ? `${percent(guard.max_fall)} below its mean` : "",
    guard.type === "metric_stuck" ? "unchanged" : "",
    guard.type === "held_out_falls" ? `held out ${percent(guard.max_fall ?? 0.1)} below its best while it rises` : "",
  ].filter(Boolean);
  const unit = guard.type === "held_out_falls" ? "evaluations" : guard.for_steps === 1 ? "step" : "steps";
  return `${parts.join(" or ")}, for ${guard.for_steps} ${unit}${guard.unless_solved ? ", unless solved" : ""}`;
}

/** The valid guards of a spec. */
export function guardsOf(value: Json | undefined): Guard[] {
  const found: unknown[] = Array.isArray(value) ? value : [];
  return found.filter(isGuard);
}

/** Guards as a control carries them. */
export function toJson(guards: Guard[]): Json {
  return guards.map(
    guard => Object.fromEntries(Object.entries(guard).filter(([, value]) => value !== undefined)) as Json,
  );
}

function isGuard(value: unknown): value is Guard {
  return typeof value === "object" && value !== null && "metric" in value && typeof value.metric === "string";
}
