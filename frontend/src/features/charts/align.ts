/** Turns series with x values of their own into the columns uPlot draws: one x, one column per line. */
import type { MetricSeries } from "@/api/model";

export type Column = (number | null)[];

export interface Aligned {
  x: number[];
  mean: Column[];
  min: Column[];
  max: Column[];
  /** x of values that were NaN or infinite, over all series. */
  nan: number[];
}

/** `smoothing` has one weight per series; a missing one is 0. */
export function align(series: (MetricSeries | undefined)[], smoothing: number[] = []): Aligned {
  const positions = new Set<number>();
  for (const one of series) for (const x of one?.x ?? []) positions.add(x);
  const x = [...positions].sort((a, b) => a - b);
  const row = new Map(x.map((value, index) => [value, index]));
  const column = (one: MetricSeries | undefined, values: Column): Column => {
    const out: Column = new Array<number | null>(x.length).fill(null);
    one?.x.forEach((at, index) => {
      out[row.get(at) as number] = values[index] ?? null;
    });
    return out;
  };
  return {
    x,
    mean: series.map((one, index) => column(one, smooth(one?.mean ?? [], smoothing[index] ?? 0))),
    min: series.map(one => column(one, one?.min ?? [])),
    max: series.map(one => column(one, one?.max ?? [])),
    nan: [...new Set(series.flatMap(one => one?.nan ?? []))].sort((a, b) => a - b),
  };
}

/**
 * Exponential moving average with the start-up bias removed: y_t = Σ w^(t−i) x_i / Σ w^(t−i). Gaps stay gaps.
 * `weight` 0 leaves the values as they are.
 */
export function smooth(values: Column, weight: number): Column {
  if (weight <= 0) return values;
  let sum = 0;
  let norm = 0;
  return values.map(value => {
    if (value === null) return null;
    sum = sum * weight + value;
    norm = norm * weight + 1;
    return sum / norm;
  });
}

/** y at `x` by linear interpolation between known points; null outside of them. */
export function interpolate(xs: number[], ys: Column, x: number): number | null {
  if (xs.length === 0) return null;
  let low = 0;
  let high = xs.length - 1;
  if (x < (xs[low] as number) || x > (xs[high] as number)) return null;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((xs[middle] as number) <= x) low = middle;
    else high = middle;
  }
  const [x0, x1, y0, y1] = [xs[low], xs[high], ys[low], ys[high]] as [number, number, number | null, number | null];
  if (y0 === null || y1 === null) return y0 ?? y1;
  return x1 === x0 ? y0 : y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
}
