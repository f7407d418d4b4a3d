/** Rows by their pass rates, from the counts that a profile reports. */
import type { Profile } from "@/api/model";

type States = NonNullable<Profile["report"]>["states"];

export const BINS = 20;

/** Number of rows in each of 20 parts of the pass rates from 0 to 1; a rate on an edge belongs to the upper part. */
export function histogram(states: States): number[] {
  const bins = Array.from({ length: BINS }, () => 0);
  for (const { samples, correct, rows } of states) {
    const bin = Math.min(BINS - 1, Math.floor((correct * BINS) / samples));
    bins[bin] = (bins[bin] ?? 0) + rows;
  }
  return bins;
}

export interface Parts {
  harder: number;
  inside: number;
  easier: number;
}

/** Rows below, within and above a band of pass rates, both edges included. */
export function partsOf(states: States, [low, high]: [number, number]): Parts {
  const parts = { harder: 0, inside: 0, easier: 0 };
  for (const { samples, correct, rows } of states) {
    const rate = correct / samples;
    if (rate < low) parts.harder += rows;
    else if (rate > high) parts.easier += rows;
    else parts.inside += rows;
  }
  return parts;
}
