/** Geometry of the difficulty band: positions of its handles, and bars of the histogram. */
import type { Curriculum, CurriculumPreview } from "@/api/model";

export const BINS = 20;
export type Sources = NonNullable<Curriculum["pass_rates"]>["sources"];
export type Edge = "low" | "high";
export interface Band {
  low: number;
  high: number;
}
/** The least distance that a person leaves between the handles. */
const GAP = 0.01;

/** The band with one edge at `value`, to the hundredth, as far as the other edge lets it. */
export function moved(band: Band, edge: Edge, value: number): Band {
  const within = edge === "low" ? [0, band.high - GAP] : [band.low + GAP, 1];
  const [least = 0, most = 1] = within;
  const hundredths = Math.round(Math.min(Math.max(value, least), most) * 100) / 100;
  return { ...band, [edge]: Math.min(Math.max(hundredths, 0), 1) };
}

const STEPS: Record<string, number> = {
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  PageDown: -0.05,
  PageUp: 0.05,
};

/** Where a key takes an edge; null for keys that move none. */
export function keyed(band: Band, edge: Edge, key: string): Band | null {
  if (key === "Home") return moved(band, edge, 0);
  if (key === "End") return moved(band, edge, 1);
  const step = STEPS[key];
  return step === undefined ? null : moved(band, edge, band[edge] + step);
}

/** The pass rate under a pointer. */
export function rateAt(x: number, box: { left: number; width: number }): number {
  return box.width > 0 ? (x - box.left) / box.width : 0;
}

export interface Bar {
  bin: number;
  source: number;
  from: number;
  to: number;
}

/** Bars of prompts, stacked by source; heights as shares of the highest stack. */
export function stacked(sources: Sources): Bar[] {
  const top = highest(sources);
  const bars: Bar[] = [];
  for (let bin = 0; bin < BINS; bin += 1) {
    let from = 0;
    sources.forEach((one, source) => {
      const to = from + (one.bins[bin] ?? 0) / top;
      if (to > from) bars.push({ bin, source, from, to });
      from = to;
    });
  }
  return bars;
}

function highest(sources: Sources): number {
  const heights = Array.from({ length: BINS }, (_, bin) => sources.reduce((sum, one) => sum + (one.bins[bin] ?? 0), 0));
  return Math.max(1, ...heights);
}

/** Expected share of the next batch in each bar, and of what was never tried; heights as shares of the highest. */
export function batchLine(preview: CurriculumPreview["draft"]): number[] {
  const shares = Array.from({ length: BINS }, (_, bin) =>
    preview.sources.reduce((sum, one) => sum + (one.bins[bin] ?? 0), 0),
  );
  const top = Math.max(...shares);
  return shares.map(share => (top > 0 ? share / top : 0));
}

export const untried = (sources: Sources): number => sources.reduce((sum, one) => sum + one.untried, 0);
export const prompts = (sources: Sources): number => sources.reduce((sum, one) => sum + one.prompts, 0);

/** Part of a bar that lies in the band, for its shade: 0 to 1. */
export function shadeOf(bin: number, { low, high }: Band): number {
  const from = bin / BINS;
  return Math.max(0, Math.min(high, from + 1 / BINS) - Math.max(low, from)) * BINS;
}
