/** When a change takes effect: immediately, at a step, or as a ramp. Pure functions. */
import type { Json } from "@/api/model";
import { parseNumber } from "@/features/schema-form/NumberField";

export interface Schedule {
  kind: "now" | "at" | "ramp";
  /** As typed: the step at which it starts, empty for the next; and the steps of the ramp. */
  at: string;
  steps: string;
}

export const NOW: Schedule = { kind: "now", at: "", steps: "" };

/** What goes to the platform. */
export interface When {
  apply_at: "next" | number;
  ramp_steps: number | null;
}

export function whenOf(schedule: Schedule): When {
  const at = schedule.kind === "now" ? null : parseNumber(schedule.at);
  return { apply_at: at ?? "next", ramp_steps: schedule.kind === "ramp" ? parseNumber(schedule.steps) : null };
}

/** Why a schedule cannot be sent; null if it can. The platform validates again. */
export function scheduleFault(
  schedule: Schedule,
  changes: { before: Json; value: Json }[],
  step: number,
  last: number,
): string | null {
  if (schedule.kind === "now") return null;
  const isWhole = (text: string) => Number.isInteger(parseNumber(text) ?? NaN);
  const needsStep = schedule.kind === "at" || schedule.at.trim() !== "";
  const { apply_at: at, ramp_steps: steps } = whenOf(schedule);
  const first = at === "next" ? step + 1 : at;
  if (needsStep && (!isWhole(schedule.at) || first <= step || first > last))
    return `The step must be between ${step + 1} and ${last}.`;
  if (schedule.kind === "at") return null;
  const most = last - first + 1;
  if (!isWhole(schedule.steps) || (steps ?? 0) < 2 || (steps ?? 0) > most)
    return most < 2 ? "There are too few steps left for a ramp." : `A ramp takes 2 to ${most} steps.`;
  const isNumber = (value: Json) => typeof value === "number";
  if (changes.some(({ before, value }) => !isNumber(before) || !isNumber(value))) return "Only numbers can be ramped.";
  return null;
}

/** Whether intermediate values are possible, so that a ramp is offered. */
export function canRamp(changes: { before: Json; value: Json }[]): boolean {
  return (
    changes.length > 0 && changes.every(({ before, value }) => typeof before === "number" && typeof value !== "object")
  );
}
