/** Overlays of tokens: which colour, how strong, and what the legend says. Strengths are steps, so that cells are few. */
import { formatNumber } from "@/lib/format";
import type { Tokens } from "./tokens";

export const OVERLAYS = ["advantage", "learner", "engine", "gap", "entropy", "version", "mask", "forced"] as const;
export type Overlay = (typeof OVERLAYS)[number];

export const OVERLAY_TITLES: Record<Overlay, string> = {
  advantage: "Advantage",
  learner: "log p, learner",
  engine: "log p, engine",
  gap: "Gap",
  entropy: "Entropy",
  version: "Weight version",
  mask: "Excluded from the loss",
  forced: "Injected",
};

/** Key that switches to it. */
export const OVERLAY_KEYS: Record<string, Overlay> = {
  a: "advantage",
  l: "learner",
  e: "engine",
  g: "gap",
  h: "entropy",
  v: "version",
  m: "mask",
  f: "forced",
};

export const LEVELS = 8;

/** A token's colour: one of the theme's, and how strong. Null: none. */
export interface Shade {
  tone: string;
  /** 1 to `LEVELS`. */
  level: number;
}

export interface LegendEntry {
  shade: Shade;
  label: string;
}

export interface Painted {
  /** Why there is nothing to see, if there is nothing. */
  missing: string | null;
  shade: (place: number) => Shade | null;
  legend: LegendEntry[];
}

const LOW = "var(--c-s1)";
const HIGH = "var(--c-s0)";
/** Colours of weight versions, one after the other. */
const TURNS = ["var(--c-s0)", "var(--c-s1)", "var(--c-s2)", "var(--c-s3)", "var(--c-s4)", "var(--c-s5)"];
const NOTHING: Painted = { missing: "", shade: () => null, legend: [] };

export function paint(overlay: Overlay, tokens: Tokens, advantage: number | null): Painted {
  switch (overlay) {
    case "advantage":
      return diverging(tokens.advantages ?? new Float32Array(tokens.length).fill(advantage ?? 0));
    case "learner":
      return tokens.learner ? rising(negated(tokens.learner), LOW, true) : without("Not scored by the learner.");
    case "engine":
      return tokens.engine ? rising(negated(tokens.engine), LOW, true) : without("Not reported by the engine.");
    case "gap":
      return tokens.gap ? rising(tokens.gap, "var(--c-s3)") : without("Not scored by the learner.");
    case "entropy":
      return tokens.entropy ? rising(tokens.entropy, "var(--c-s4)") : without("Not computed by the learner.");
    case "version":
      return tokens.versions ? turns(tokens.versions) : without("Unknown.");
    case "mask":
      return tokens.inLoss ? marked(tokens.inLoss, "var(--c-s1)", "excluded from the loss") : without("Unknown.");
    case "forced":
      return tokens.sampled ? marked(tokens.sampled, "var(--c-s3)", "injected, not sampled") : without("Unknown.");
  }
}

function without(missing: string): Painted {
  return { ...NOTHING, missing };
}

function negated(values: Float32Array): Float32Array {
  return values.map(value => -value);
}

/** From nothing at 0 to full at the 99th percentile, so that one outlier does not make all others pale. */
function rising(values: Float32Array, tone: string, negative = false): Painted {
  const top = percentile(values, 0.99);
  const sign = negative ? -1 : 1;
  return {
    missing: null,
    shade: place => scaled(values[place] ?? NaN, top, tone),
    legend:
      top > 0
        ? steps(top).map(({ value, level }) => ({ shade: { tone, level }, label: formatNumber(sign * value, 3) }))
        : [],
  };
}

function diverging(values: Float32Array): Painted {
  const top = percentile(values.map(Math.abs), 0.99);
  const shade = (value: number) => scaled(Math.abs(value), top, value < 0 ? LOW : HIGH);
  const labels = top > 0 ? [-top, -top / 2, top / 2, top] : [];
  return {
    missing: null,
    shade: place => shade(values[place] ?? NaN),
    legend: labels.flatMap(value => {
      const found = shade(value);
      return found ? [{ shade: found, label: formatNumber(value, 3) }] : [];
    }),
  };
}

function turns(versions: Int32Array): Painted {
  const known = [...new Set(versions)].sort((a, b) => a - b);
  const shades = new Map(
    known.map((version, place) => [version, { tone: TURNS[place % TURNS.length] ?? LOW, level: 4 }]),
  );
  return {
    missing: null,
    shade: place => shades.get(versions[place] ?? -1) ?? null,
    legend: [...shades].slice(-12).map(([version, shade]) => ({ shade, label: String(version) })),
  };
}

function marked(values: Uint8Array, tone: string, label: string): Painted {
  const shade = { tone, level: 6 };
  return {
    missing: null,
    shade: place => (values[place] ? null : shade),
    legend: [{ shade, label: values.every(Boolean) ? `${label}: none` : label }],
  };
}

/** What is no number is as strong as can be: it must not look like nothing. */
function scaled(value: number, top: number, tone: string): Shade | null {
  if (Number.isNaN(value)) return null;
  if (!Number.isFinite(value)) return { tone: "var(--c-bad)", level: LEVELS };
  if (top <= 0 || value <= 0) return null;
  const level = Math.round((Math.min(value, top) / top) * LEVELS);
  return level === 0 ? null : { tone, level };
}

function steps(top: number): { value: number; level: number }[] {
  return [2, 4, 6, 8].map(level => ({ value: (top * level) / LEVELS, level }));
}

function percentile(values: Float32Array, share: number): number {
  const sorted = values.filter(value => Number.isFinite(value)).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
