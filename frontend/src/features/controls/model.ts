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
export function progressText(control: Control): string {
  switch (control.state) {
    case "staged":
      return control.apply_at === "next" || control.apply_at === null
        ? "staged, waiting for the worker"
        : `staged for step ${control.apply_at}`;
    case "applied":
      return `applied at step ${control.applied_step}${control.applied_group ? ` (group ${control.applied_group})` : ""}, settling`;
    case "settled":
      return `applied at step ${control.applied_step}, settled at step ${control.settled_step}`;
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

/** The changes of others that a refusal for a stale revision tells of, oldest first. */
export function conflictOf(error: unknown): Control[] {
  if (!(error instanceof Problem) || error.status !== 412) return [];
  const listed = error.document.changes;
  return Array.isArray(listed) ? (listed as Control[]) : [];
}

/** Share of rollouts whose thinking would be cut by a budget; null without rollouts. */
export function shareCut(thinking: number[], budget: number | null): number | null {
  if (thinking.length === 0) return null;
  if (budget === null) return 0;
  return thinking.filter(length => length > budget).length / thinking.length;
}

/** Weights as shares of the mixture. */
export function shares(weights: number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map(weight => (total > 0 ? weight / total : 0));
}

/** What keeps a typed value from being sent, in words; null where nothing does. The platform has the last word. */
export function faultOf(value: Json, schema: JsonSchema): string | null {
  if (value === null) return kindOf(schema) === "optional" ? null : "A value is needed.";
  const found = present(schema, schema);
  const kind = kindOf(found);
  if (kind !== "number" && kind !== "integer") return null;
  const typed = typeof value === "string" ? parseNumber(value) : value;
  if (typeof typed !== "number") return `“${formatValue(value)}” is no number.`;
  if (kind === "integer" && !Number.isInteger(typed)) return "A whole number is needed.";
  return isWithin(typed, found) ? null : `It must be ${boundsText(found)}.`;
}
