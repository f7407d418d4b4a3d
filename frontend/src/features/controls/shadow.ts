/** Shadow reward versions: what a run reports of each. */
import type { Json, Metrics } from "@/api/model";

export const DEFINITION = "reward.definition";
export const SHADOW = "reward.shadow";
/** As many as a run takes. */
export const MAX_SHADOWS = 4;

export const shadowKeys = (refs: string[]): string[] =>
  refs.flatMap(ref => ["mean", "agreement", "correlation", "errors"].map(name => `reward_shadow/${ref}/${name}`));

export interface ShadowFacts {
  mean: number | null;
  agreement: number | null;
  correlation: number | null;
  errors: number | null;
  /** The last step of which something is known. */
  step: number | null;
}

/** The newest values of one shadow. */
export function shadowFacts(ref: string, data: Metrics | undefined): ShadowFacts {
  const series = (name: string) => data?.series[`reward_shadow/${ref}/${name}`];
  const last = (name: string) => series(name)?.mean.findLast(value => value !== null) ?? null;
  return {
    mean: last("mean"),
    agreement: last("agreement"),
    correlation: last("correlation"),
    errors: last("errors"),
    step: series("mean")?.x.at(-1) ?? null,
  };
}

export function refsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === "string") : [];
}

/** Versions that can be added: all except the present shadows and the training reward. */
export function addable(all: string[], shadows: string[], definition: Json): string[] {
  return shadows.length >= MAX_SHADOWS ? [] : all.filter(ref => ref !== definition && !shadows.includes(ref));
}
