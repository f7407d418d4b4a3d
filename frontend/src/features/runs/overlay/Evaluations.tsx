/** Held-out results of the runs next to each other, with their intervals. */
import { Skeleton, Text } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { MetricName, Run } from "@/api/model";
import {
  bestRun,
  evaluatedMetrics,
  type EvaluationRow,
  evaluationKeys,
  evaluationRows,
  evaluationsQuery,
  measuredText,
} from "@/entities/runs/evaluations";
import { isLive } from "@/entities/runs/states";
import { ErrorState } from "@/ui/ErrorState";
import { RunColumns } from "./RunColumns";

const LOOK_EVERY = 30_000;

/** Heights in pixels of the table's title with its columns' names, and of a row: so much room is kept for them. */
const HEAD = 100;
const ROW = 53;

interface Props {
  runs: Run[];
  metrics: MetricName[];
  /** Only what was done by then. */
  asOf?: string;
  /** Results that are shown at first, pass rates before others; without it all are. */
  few?: number;
  /** What stands there where none of them was evaluated. */
  none?: ReactNode;
}

export function Evaluations({ runs, metrics, asOf, few, none = null }: Props) {
  const keys = evaluationKeys(metrics);
  const found = useQueries({
    queries: runs.map(run => ({
      ...evaluationsQuery(run.id, keys, asOf),
      refetchInterval: isLive(run.state) && !asOf ? LOOK_EVERY : (false as const),
    })),
  });
  if (keys.length === 0) return none;
  const failed = found.find(one => one.isError && one.data === undefined);
  if (failed) return <ErrorState error={failed.error} retry={() => void failed.refetch()} />;
  const rows = evaluationRows(
    metrics,
    found.map(one => one.data),
  );
  if (rows.length === 0 && found.every(one => one.data)) return none;
  if (rows.length === 0) {
    const awaited = Math.min(evaluatedMetrics(metrics).length, few ?? Infinity);
    return <Skeleton height={HEAD + ROW * awaited} mb={16} aria-busy />;
  }
  return (
    <RunColumns
      title="Held-out evaluations"
      description="The newest result of each run, with its best one below. Brackets are 95 % intervals over prompts: if they overlap widely, the difference may be chance."
      runs={runs}
      few={few}
      rows={rows.map(row => rowOf(row))}
      testId="evaluations"
    />
  );
}

function rowOf(row: EvaluationRow) {
  const best = bestRun(row);
  return {
    key: row.metric,
    head: (
      <>
        {row.source}
        <Text size="xs" c="dimmed" fw={400}>
          {row.title}
        </Text>
      </>
    ),
    cells: row.runs.map((run, place) =>
      run === null ? (
        <Text size="sm" c="dimmed">
          not evaluated
        </Text>
      ) : (
        <>
          <Text size="sm" className="num" fw={place === best ? 700 : undefined} data-best={place === best || undefined}>
            {measuredText(run.last)}
          </Text>
          {row.isMoreBetter !== null && run.best.step !== run.last.step && (
            <Text size="xs" c="dimmed" className="num">
              best {measuredText(run.best)}
            </Text>
          )}
        </>
      ),
    ),
  };
}
