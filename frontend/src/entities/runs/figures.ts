/** The figure that sums up a run: its reward, its loss or its accuracy. */
import { useQuery } from "@tanstack/react-query";
import type { Metrics, MetricSeries, Run } from "@/api/model";
import { type Objective, runObjective } from "./objective";
import { metricNamesQuery, metricsQuery } from "./queries";

export interface MainFigure {
  metric: string;
  label: string;
  /** The same measure on held-out rows, by source. */
  heldOut: RegExp;
}

export const FIGURES: Record<Objective, MainFigure> = {
  rl: { metric: "critic/score/mean", label: "Reward", heldOut: /^eval\/[^/]+\/score\/mean$/ },
  sft: { metric: "sft/loss", label: "Loss", heldOut: /^eval\/[^/]+\/loss$/ },
  preference: {
    metric: "preference/accuracy",
    label: "Pair accuracy",
    heldOut: /^eval\/[^/]+\/preference_accuracy$/,
  },
};

export interface Figures {
  label: string;
  value: number | null;
  /** Mean of the newest results of all held-out sources. */
  heldOut: number | null;
}

/** The newest figures of a run. The platform sums up rewards; other figures are read from the metrics. */
export function useFigures(run: Run): Figures {
  const objective = runObjective(run);
  const { metric, label, heldOut } = FIGURES[objective];
  const read = objective !== "rl";
  const names = useQuery({ ...metricNamesQuery(run.id), enabled: read }).data ?? [];
  const keys = names.filter(name => name === metric || heldOut.test(name));
  const query = metricsQuery(run.id, keys, { x: "step" });
  const found = useQuery({ ...query, enabled: read && keys.length > 0 });
  if (!read) return { label, value: run.summary.reward, heldOut: run.summary.eval };
  return { label, ...newest(found.data, objective) };
}

export function newest(found: Pick<Metrics, "series"> | undefined, objective: Objective): Omit<Figures, "label"> {
  const { metric, heldOut } = FIGURES[objective];
  const series = found?.series ?? {};
  const results = Object.entries(series).flatMap(([name, one]) => (heldOut.test(name) ? (last(one) ?? []) : []));
  const mean = results.reduce((sum, one) => sum + one, 0) / results.length;
  return { value: last(series[metric]), heldOut: results.length > 0 ? mean : null };
}

function last(series: MetricSeries | undefined): number | null {
  return series?.mean.findLast(value => value !== null) ?? null;
}
