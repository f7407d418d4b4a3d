/** Held-out results next to checkpoints: which weights were how good. */
import { useQuery } from "@tanstack/react-query";
import type { Checkpoint, MetricName, Metrics, Run } from "@/api/model";
import { evaluationKeys, evaluationsQuery, type Measured, resultAt } from "@/entities/runs/evaluations";
import { metricEntriesQuery } from "@/entities/runs/queries";

/** What a run reports of a held-out source. */
const RESULT = /^eval\/([^/]+)\/(score\/mean|loss|preference_accuracy)$/;
const LESS_IS_BETTER = "loss";

export interface HeldOut {
  /** Held-out sources, which have a column each. */
  sources: string[];
  /** What is known of a checkpoint's weights on a source. */
  of: (row: Checkpoint, source: string) => Measured | null;
  /** The checkpoint with the best result on a source, of those that are there and differ. */
  best: (source: string) => string | null;
}

export function useHeldOut(run: Run, rows: Checkpoint[]) {
  const metrics = useQuery(metricEntriesQuery(run.id));
  const keys = evaluationKeys(metrics.data ?? []);
  const found = useQuery(evaluationsQuery(run.id, keys));
  return heldOut(metrics.data ?? [], found.data, rows);
}

export function heldOut(metrics: MetricName[], found: Metrics | undefined, rows: Checkpoint[]): HeldOut {
  const kinds = new Map<string, string>();
  // Of pairs the accuracy, which comes after the loss by name.
  for (const { name } of metrics) {
    const [, source, kind] = RESULT.exec(name) ?? [];
    if (source && kind) kinds.set(source, kind);
  }
  const of = (row: Checkpoint, source: string) => resultAt(found, `eval/${source}/${kinds.get(source)}`, row.step);
  const best = (source: string) => {
    const there = rows.filter(row => row.available !== false && !row.damaged);
    const known = there.flatMap(row => {
      const result = of(row, source);
      return result === null ? [] : [{ id: row.id, value: result.value }];
    });
    if (new Set(known.map(one => one.value)).size < 2) return null;
    const sign = kinds.get(source) === LESS_IS_BETTER ? -1 : 1;
    return known.reduce((a, b) => (sign * b.value > sign * a.value ? b : a)).id;
  };
  return { sources: [...kinds.keys()], of, best };
}
