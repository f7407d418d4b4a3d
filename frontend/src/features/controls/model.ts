/** What the control rail says about a change: pure functions over controls and targets. */
import { Problem } from "@/api/http";
import type { Control, Json, JsonSchema, Spec, Target } from "@/api/model";
import { boundsText, isWithin } from "@/features/schema-form/bounds";
import { parseNumber } from "@/features/schema-form/NumberField";
import { same } from "@/features/schema-form/pointer";
import { isObject, kindOf, present } from "@/features/schema-form/schema";
import { formatValue } from "@/lib/format";

/** The targets with the values that are in force now; the platform lists them as they will be once all is applied. */
export function inForce(targets: Target[], spec: Spec | undefined): Target[] {
  return targets.map(target => {
    const value = valueAt(spec, target.path);
    return value === undefined ? target : { ...target, value };
  });
}

/** The value at a dotted path; members of lists are addressed by their name, or their type. */
export function valueAt(spec: Json | undefined, path: string): Json | undefined {
  return path.split(".").reduce<Json | undefined>((at, part) => {
    if (Array.isArray(at)) return at.find(member => isObject(member) && (member.name ?? member.type) === part);
    return isObject(at) ? at[part] : undefined;
  }, spec);
}

export type Drafts = Record<string, Json>;

/** The drafts that differ from what is in force, or from what is staged to be. */
export function changes(drafts: Drafts, targets: Target[], controls: Control[]): { target: string; value: Json }[] {
  return targets.flatMap(target => {
    const draft = drafts[target.path];
    if (draft === undefined) return [];
    return same(draft, shownValue(targets, controls, target.path)) ? [] : [{ target: target.path, value: draft }];
  });
}

/** The value of a field without a draft: what is staged, else what is in force. `null` is a value ("no limit"). */
export function shownValue(targets: Target[], controls: Control[], path: string): Json {
  const staged = stagedFor(controls, path);
  return staged ? staged.value : (targets.find(target => target.path === path)?.value ?? null);
}

/** The newest control of a target that waits for the worker. */
export function stagedFor(controls: Control[], target: string): Control | undefined {
  return newest(controls.filter(control => control.target === target && control.state === "staged"));
}

/** The newest control of a target that says something still worth showing: not one that settled long ago. */
export function lastFor(controls: Control[], target: string, step: number): Control | undefined {
  const last = newest(controls.filter(control => control.target === target && control.state !== "cancelled"));
  if (last?.state === "settled" && last.settled_step !== null && step - last.settled_step > 20) return undefined;
  return last;
}

function newest(controls: Control[]): Control | undefined {
  return controls.reduce<Control | undefined>(
    (best, control) => (best && best.revision > control.revision ? best : control),
    undefined,
  );
}

/** One sentence on how far a control is. "applied" only when the worker has said so. */
export function progressText(control: Control, step: number | null = null): string {
  const { state, apply_at: at, applied_step: first, ramp_steps: steps } = control;
  const over = typeof steps === "number" ? ` over ${steps} steps` : "";
  switch (state) {
    case "staged":
      return at === "next" || at === null ? `staged${over}, waiting for the worker` : `staged for step ${at}${over}`;
    case "applied":
      if (typeof steps === "number" && first !== null) {
        const done = step === null ? "" : `, ${Math.min(steps, Math.max(1, step - first + 2))} of ${steps} done`;
        return `moving from step ${first} to ${first + steps - 1}${done}`;
      }
      return `applied at step ${first}${control.applied_group ? ` (group ${control.applied_group})` : ""}, settling`;
    case "settled":
      return `applied at step ${first}${over}, settled at step ${control.settled_step}`;
    case "rejected":
      return `rejected: ${control.error ?? "the worker gave no reason"}`;
    case "cancelled":
      return "cancelled before it took effect";
  }
}

/** Controls that are lines on the charts: the worker has confirmed the step at which they took effect. */
export function marked(controls: Control[]): Control[] {
  return controls.filter(
    control => control.applied_step !== null && (control.state === "applied" || control.state === "settled"),
  );
}

/** The changes of others that a refusal for a stale revision reports, oldest first. */
export function conflictOf(error: unknown): Control[] {
  if (!(error instanceof Problem) || error.status !== 412) return [];
  const listed = error.document.changes;
  return Array.isArray(listed) ? (listed as Control[]) : [];
}

export interface Cut {
  /** Share that a budget cuts for certain. */
  certain: number;
  /** Share whose thinking a shorter budget already cut. Their full length is unknown. */
  unknown: number;
}

/**
 * What a budget cuts of rollouts. The length of one that hit the budget it had is a lower bound; that of any other is
 * how long it thought of its own accord. Null without rollouts.
 */
export function shareCut(rows: { thinking_tokens: number; budget_hit: boolean }[], budget: number | null): Cut | null {
  if (rows.length === 0) return null;
  if (budget === null) return { certain: 0, unknown: 0 };
  const certain = rows.filter(row => isCut(row, budget)).length;
  const unknown = rows.filter(row => row.budget_hit && !isCut(row, budget)).length;
  return { certain: certain / rows.length, unknown: unknown / rows.length };
}

function isCut({ thinking_tokens, budget_hit }: { thinking_tokens: number; budget_hit: boolean }, budget: number) {
  return thinking_tokens > budget || (budget_hit && thinking_tokens >= budget);
}

/**
 * Share of the reward above zero that rollouts have earned whose thinking a budget would surely cut; null if none has
 * earned any. What they would answer with less thinking is not known.
 */
export function rewardCut(
  rows: { thinking_tokens: number; budget_hit: boolean; reward: number | null }[],
  budget: number | null,
): number | null {
  const earned = (some: typeof rows) => some.reduce((sum, row) => sum + Math.max(0, row.reward ?? 0), 0);
  const all = earned(rows);
  if (all === 0) return null;
  return budget === null ? 0 : earned(rows.filter(row => isCut(row, budget))) / all;
}

/** Weights as shares of the mixture. */
export function shares(weights: number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map(weight => (total > 0 ? weight / total : 0));
}

/** Why a typed value cannot be sent; null if it can. The platform validates again. */
export function faultOf(value: Json, schema: JsonSchema): string | null {
  if (value === null) return kindOf(schema) === "optional" ? null : "Enter a value.";
  const found = present(schema, schema);
  const kind = kindOf(found);
  if (kind !== "number" && kind !== "integer") return null;
  const typed = typeof value === "string" ? parseNumber(value) : value;
  if (typeof typed !== "number") return `“${formatValue(value)}” is not a number.`;
  if (kind === "integer" && !Number.isInteger(typed)) return "Enter a whole number.";
  return isWithin(typed, found) ? null : `Must be ${boundsText(found)}.`;
}
