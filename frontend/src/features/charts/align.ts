/** Turns series with x values of their own into the columns uPlot draws: one x, one column per line. */
import type { MetricSeries } from "@/api/model";
import { reach, stepAt } from "./gaps";

/** null: a value is missing, and the line breaks. undefined: none is due here, and the line goes on. */
export type Column = (number | null | undefined)[];

export interface Aligned {
  x: number[];
  mean: Column[];
  min: Column[];
  max: Column[];
  /** x of values that were NaN or infinite, over all series. */
  nan: number[];
}

/** How a series is treated; see {@link reach} for `rare`, {@link smooth} for `smoothing`. */
export interface Treatment {
  rare?: boolean;
  smoothing?: number;
}

/** The series over all their x and the run's `steps`, broken where values are missing; see `gaps.ts` for the rule. */
export function align(
  series: (MetricSeries | undefined)[],
  steps: number[],
  treatments: (Treatment | undefined)[] = [],
): Aligned {
  const x = [...new Set([...steps, ...series.flatMap(one => one?.x ?? [])])].sort((a, b) => a - b);
  const row = new Map(x.map((value, index) => [value, index]));
  const blanks = series.map((one, index) => blank(one?.x ?? [], x, row, steps, treatments[index]?.rare ?? false));
  const column = (index: number, values: (number | null)[]): Column => {
    const out: Column = [...(blanks[index] as Column)];
    series[index]?.x.forEach((at, place) => {
      out[row.get(at) as number] = values[place] ?? null;
    });
    return out;
  };
  return {
    x,
    mean: series.map((one, index) => column(index, smooth(one?.mean ?? [], treatments[index]?.smoothing ?? 0))),
    min: series.map((one, index) => column(index, one?.min ?? [])),
    max: series.map((one, index) => column(index, one?.max ?? [])),
    nan: [...new Set(series.flatMap(one => one?.nan ?? []))].sort((a, b) => a - b),
  };
}

/** A column without values: undefined between points that are joined, null elsewhere. */
function blank(own: number[], x: number[], row: Map<number, number>, steps: number[], rare: boolean): Column {
  const out: Column = new Array<null>(x.length).fill(null);
  const at = own.map(value => stepAt(steps, value));
  const furthest = reach(at, rare);
  own.forEach((value, index) => {
    const from = (row.get(value) as number) + 1;
    const next = own[index + 1];
    if (next !== undefined) {
      const joined = (at[index + 1] as number) - (at[index] as number) <= furthest;
      if (joined) out.fill(undefined, from, row.get(next));
      return;
    }
    // After the last point, a value is not missing before it is due.
    for (let place = from; place < x.length; place += 1) {
      if (stepAt(steps, x[place] as number) - (at[index] as number) < furthest) out[place] = undefined;
    }
  });
  return out;
}

/** The value at the end of a line; null where the line has ended before, or never began. */
export function latest(column: Column): number | null {
  return column.findLast(value => value !== undefined) ?? null;
}

/**
 * Exponential moving average with the start-up bias removed: y_t = Σ w^(t−i) x_i / Σ w^(t−i). Gaps stay gaps.
 * `weight` 0 leaves the values as they are.
 */
export function smooth(values: (number | null)[], weight: number): (number | null)[] {
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
export function interpolate(xs: number[], ys: (number | null)[], x: number): number | null {
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
