/**
 * Where a line breaks. The rule:
 *
 * The steps of a run are the points of its most complete metric; where the platform has thinned them out, they are
 * its buckets. A metric is due at every step, so two of its points are joined only if they belong to neighbouring
 * steps. Where a step has no value, nothing was measured or nothing was in force, and no line is drawn.
 *
 * A rare metric, such as an evaluation, is due at its own cadence: the median number of steps between its points. Its
 * points are joined up to one step beyond the cadence, because buckets move a point by one; where more pass, a value
 * is missing and the line breaks.
 */
import type { MetricSeries } from "@/api/model";

/**
 * The x of a run's steps, in order: those of the series with the most points. A bucket whose values are no numbers has
 * an x as well; the x of the values themselves (`nan`) lie between those of the buckets and are no steps.
 */
export function stepsOf(series: Record<string, MetricSeries>): number[] {
  const points = Object.values(series).map(one => one.x);
  return points.reduce<number[]>((best, one) => (one.length > best.length ? one : best), []);
}

/** The number of the step that `x` belongs to: the first step at or after it. */
export function stepAt(steps: number[], x: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] as number) < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The most steps from one point to the next over which a line is drawn; `at` are the steps of its points. */
export function reach(at: number[], rare: boolean): number {
  if (!rare) return 1;
  const distances = at.slice(1).map((step, index) => step - (at[index] as number));
  if (distances.length === 0) return Number.POSITIVE_INFINITY; // one value has no cadence yet
  distances.sort((a, b) => a - b);
  return (distances[Math.floor((distances.length - 1) / 2)] as number) + 1;
}
