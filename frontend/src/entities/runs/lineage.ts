/** Shifts a run to its position on the axes of its parent, from whose checkpoint it started. */
import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Metrics, MetricSeries, Run, XAxis } from "@/api/model";
import { interpolate } from "@/lib/interpolate";

/** Metrics that translate steps into seconds and tokens: a run has one of them at every step. */
export const EVERY_STEP = ["critic/score/mean", "sft/loss", "preference/loss"];
const MOST_POINTS = 10_000;

export interface Origin {
  run: string;
  name: string;
  /** The step of the checkpoint. */
  step: number;
  /** Whether the child continues its parent's count of steps and tokens. Otherwise it starts from 0. */
  continues: boolean;
}

/** The parent's checkpoint that a run started with; null if it started with a policy. */
export function originOf({ parent }: Run): Origin | null {
  if (!parent || parent.step === null) return null;
  return { run: parent.run, name: parent.name, step: parent.step, continues: parent.continues };
}

/**
 * How much further on its parent's axis a child's points lie than on its own. Seconds and costs are counted from each
 * run's own start, steps and tokens continue where it is a fork. null if the parent has not told.
 */
export const shiftQuery = (origin: Origin, x: XAxis) =>
  queryOptions({
    queryKey: ["run", origin.run, "shift", x, origin.step, origin.continues],
    queryFn: async ({ signal }) => {
      if (origin.continues && (x === "step" || x === "tokens")) return 0;
      if (x === "step" || origin.step === 0) return origin.step;
      const read = (axis: XAxis) =>
        api.getMetrics(origin.run, { keys: EVERY_STEP.join(","), x: axis, max_points: MOST_POINTS }, { signal });
      const [steps, places] = await Promise.all([read("step"), read(x)]);
      return interpolate(placesOf(steps), placesOf(places), origin.step);
    },
    staleTime: Infinity, // what came before a checkpoint is over
    retry: false,
  });

/** Where a run's steps are on the axis that its metrics were read on. */
export function placesOf(found: Pick<Metrics, "series"> | undefined): number[] {
  const metric = EVERY_STEP.find(name => (found?.series[name]?.x.length ?? 0) > 0);
  return metric === undefined ? [] : (found?.series[metric]?.x ?? []);
}

/** The same points further along the axis. */
export function shifted(data: Metrics, by: number): Metrics {
  if (by === 0) return data;
  const move = (one: MetricSeries): MetricSeries => ({
    ...one,
    x: one.x.map(x => x + by),
    nan: one.nan.map(x => x + by),
  });
  return { ...data, series: Object.fromEntries(Object.entries(data.series).map(([name, one]) => [name, move(one)])) };
}
