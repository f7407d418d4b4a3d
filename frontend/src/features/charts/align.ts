/** Converts series with separate x values into uPlot's columns: one x, one column per line. */
import type { MetricSeries } from "@/api/model";
import { interpolate } from "@/lib/interpolate";
import { reach, stepAt } from "./gaps";

/** null: a value is missing, and the line breaks. undefined: no value is due here, and the line continues. */
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
  /** The steps that the series is due at, if it belongs to another run than the others. */
  steps?: number[];
}

/** The series over all their x and the run's `steps`, broken where values are missing; see `gaps.ts` for the rule. */
export function align(
  series: (MetricSeries | undefined)[],
  steps: number[],
  treatments: (Treatment | undefined)[] = [],
): Aligned {
  const x = [...new Set([...steps, ...series.flatMap(one => one?.x ?? [])])].sort((a, b) => a - b);
  const row = new Map(x.map((value, index) => [value, index]));
  const blanks = series.map((one, index) => {
    const { rare = false, steps: due = steps } = treatments[index] ?? {};
    return blank(one?.x ?? [], x, row, due, rare);
  });
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

/** The value at the end of a line; null if the line has ended before, or never started. */
export function latest(column: Column): number | null {
  return column.findLast(value => value !== undefined) ?? null;
}

/** The value of a line at x, interpolated if none is due there; null where the line breaks. */
export function valueAt(x: number[], column: Column, place: number): number | null {
  const value = column[place];
  if (value !== undefined) return value;
  const before = column.slice(0, place).findLastIndex(one => one !== undefined);
  const after = column.findIndex((one, index) => index > place && one !== undefined);
  const [from, to] = [column[before], column[after]];
  if (typeof from !== "number" || typeof to !== "number") return null;
  return interpolate([x[before] as number, x[after] as number], [from, to], x[place] as number);
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
