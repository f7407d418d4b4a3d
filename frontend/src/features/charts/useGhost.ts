/** The parent's metrics, shifted to the axis of a run that started from one of its checkpoints. */
import { skipToken, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Metrics, Run } from "@/api/model";
import { originOf, shiftQuery, shifted } from "@/entities/runs/lineage";
import { metricsQuery, type Window } from "@/entities/runs/queries";
import { stepsOf } from "./gaps";

export interface Ghost {
  data: Metrics;
  steps: number[];
}

/** Undefined without a parent, or while its metrics are unknown. */
export function useGhost(run: Run, keys: string[], { x, from, to }: Window, enabled: boolean): Ghost | undefined {
  const origin = enabled ? originOf(run) : null;
  const drawn = origin !== null;
  const shift = useQuery(origin ? shiftQuery(origin, x) : { queryKey: ["no shift"], queryFn: skipToken }).data ?? null;
  const by = shift ?? 0;
  const window = { x, from: from === undefined ? from : from + by, to: to === undefined ? to : to + by };
  const parent = metricsQuery(origin?.run ?? "", keys, window);
  const metrics = useQuery({ ...parent, enabled: drawn && shift !== null && keys.length > 0 });
  return useMemo(() => {
    if (!drawn || shift === null || !metrics.data || metrics.isPlaceholderData) return undefined;
    const data = shifted(metrics.data, -shift);
    return { data, steps: stepsOf(data.series) };
  }, [drawn, shift, metrics.data, metrics.isPlaceholderData]);
}
