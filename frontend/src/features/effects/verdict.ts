/** Texts about the effect of a change: pure functions over the platform's answer. */
import type { ControlEffect, MetricEffect } from "@/api/model";
import { formatNumber } from "@/lib/format";

const UNSAID = new Set(["1", "", "share", "reward"]);

/** A change with its sign: +0.04, −120, 0. */
export function signed(value: number | null): string {
  const text = formatNumber(value, 3);
  return value !== null && value > 0 ? `+${text}` : text;
}

/** "−120 tokens [−140, −100]". */
export function changeText({ change, low, high, unit }: MetricEffect): string {
  return `${signed(change)}${UNSAID.has(unit) ? "" : ` ${unit}`} [${signed(low)}, ${signed(high)}]`;
}

/** One sentence on the whole. */
export function verdict(effect: ControlEffect): string {
  if (effect.why !== null) return effect.why;
  const moved = effect.targets.filter(one => one.moved);
  const own = moved.map(one => `${one.title} ${changeText(one)}`).join("; ");
  const meant = own || (effect.targets.length > 0 ? "No target metric has moved" : "");
  const said = [meant, othersText(effect)].filter(text => text !== "").join("; ");
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

function othersText({ others, others_moved, compared }: ControlEffect): string {
  if (compared === 0) return "no other metric could be compared";
  const of = `of ${compared} other metric${compared === 1 ? "" : "s"}`;
  if (others_moved === 0) return `${of} none moved beyond its noise`;
  const more = others_moved > others.length ? `, ${others.length} listed` : "";
  return `${of} ${others_moved} also moved${more}`;
}

/** Why a metric has no interval. */
export function missing({ values_before, values_after }: MetricEffect, needed: number): string {
  return `${values_before} and ${values_after} of ${needed} values`;
}

/** The plot of a metric: everything as shares of its width and height, the y axis upwards. */
export interface Picture {
  before: [number, number][];
  after: [number, number][];
  /** Where the batches of both revisions lie. */
  drain: [number, number] | null;
  /** Means of either window. */
  levels: { from: number; to: number; at: number }[];
  /** Where the mean after would lie without a change, with its noise. */
  noise: { from: number; to: number; low: number; high: number } | null;
}

export function picture(one: MetricEffect, effect: ControlEffect): Picture | null {
  const { before, after } = effect;
  if (!before || !after || one.values.length < 2) return null;
  const half = one.high === null || one.low === null ? null : (one.high - one.low) / 2;
  const band = half === null || one.expected === null ? [] : [one.expected - half, one.expected + half];
  const [bottom, top] = [Math.min(...one.values, ...band), Math.max(...one.values, ...band)];
  const [first, last] = [Math.min(...one.steps), Math.max(...one.steps)];
  const x = (step: number) => (last > first ? (step - first) / (last - first) : 0.5);
  const y = (value: number) => (top > bottom ? (value - bottom) / (top - bottom) : 0.5);
  const points = one.steps.map((step, index): [number, number] => [step, one.values[index] ?? 0]);
  const inside = (from: number, to: number) =>
    points.filter(([step]) => step >= from && step <= to).map(([step, value]): [number, number] => [x(step), y(value)]);
  const level = (mean: number | null, from: number, to: number) =>
    mean === null ? [] : [{ from: x(Math.max(from, first)), to: x(Math.min(to, last)), at: y(mean) }];
  const [low, high] = band;
  return {
    before: inside(before.first, before.last),
    after: inside(after.first, after.last),
    drain: after.first > before.last + 1 ? [x(before.last), x(Math.min(after.first, last))] : null,
    levels: [...level(one.before, before.first, before.last), ...level(one.after, after.first, after.last)],
    noise:
      low === undefined || high === undefined
        ? null
        : { from: x(Math.min(after.first, last)), to: x(Math.min(after.last, last)), low: y(low), high: y(high) },
  };
}
