/** A block of charts with one line per run. Its metrics are read when it comes near the screen. */
import { Title } from "@mantine/core";
import { keepPreviousData, useQueries, type UseQueryResult } from "@tanstack/react-query";
import { type ComponentProps, useCallback, useState } from "react";
import type { Metrics, Run } from "@/api/model";
import { ChartCard } from "@/features/charts/ChartCard";
import { ChartPlace } from "@/features/charts/ChartPlace";
import classes from "@/features/charts/charts.module.css";
import { useSeen } from "@/features/charts/useSeen";
import { MAX_POINTS, type Window } from "@/entities/runs/queries";
import { requestMetrics } from "@/entities/runs/requestMetrics";
import { isLive } from "@/entities/runs/states";
import { ErrorState } from "@/ui/ErrorState";
import { overlaidData, type Section, splitKey } from "./overlay";

/** Charts that are fetched together for all runs, part by part, so that the first need not wait for the others. */
const TOGETHER = 4;

/** Milliseconds between refetches of an active run. */
const LOOK_EVERY = 10_000;

interface Props {
  section: Section;
  runs: Run[];
  /** How far each run's points are moved along the axis. */
  shifts: number[];
  window: Window;
  /** Only what was done by then is drawn; without it the charts continue as the runs do. */
  asOf?: string;
  common: Omit<ComponentProps<typeof ChartCard>, "chart" | "data" | "steps" | "stepsByLine">;
}

const NO_STEPS: number[] = [];

export function OverlaySection({ section, runs, shifts, window, asOf, common }: Props) {
  const { ref, seen } = useSeen();
  const { x, from, to } = window;
  const combine = useCallback(
    (found: UseQueryResult<Metrics>[]) => ({
      error: found.find(one => one.isError && one.data === undefined)?.error,
      retry: () => found.filter(one => one.isError).forEach(one => void one.refetch()),
      // Of each part: all of its runs, which stand next to each other.
      isPending: Array.from({ length: found.length / Math.max(1, runs.length) }, (_, part) =>
        found.slice(part * runs.length, (part + 1) * runs.length).some(one => one.isPending),
      ),
      ...overlaidData(
        runs.map(({ id }, place) => {
          const own = found.filter((one, at) => at % runs.length === place && one.data);
          const series = Object.assign({}, ...own.map(one => one.data?.series)) as Metrics["series"];
          return { id, data: { x, series }, shift: shifts[place] ?? 0 };
        }),
        x,
      ),
    }),
    [runs, shifts, x],
  );
  const [reached, setReached] = useState(0);
  const { error, retry, isPending, data, stepsByLine } = useQueries({
    queries: keysOfParts(section).flatMap((keys, part) =>
      runs.map((run, place) => {
        const by = shifts[place] ?? 0;
        const ends = { from: from === undefined ? from : from - by, to: to === undefined ? to : to - by };
        const own = { x, ...ends, as_of: asOf };
        return {
          queryKey: ["run", run.id, "overlay", own, keys.join(",")],
          queryFn: ({ signal }: { signal: AbortSignal }) =>
            requestMetrics(run.id, keys, { max_points: MAX_POINTS, ...own }, signal),
          enabled: seen && part <= reached,
          refetchInterval: isLive(run.state) && !asOf ? LOOK_EVERY : (false as const),
          placeholderData: keepPreviousData,
        };
      }),
    ),
    combine,
  });
  const came = isPending.indexOf(true);
  // A part that has arrived stays enabled: another range of the axis is fetched for all parts.
  if (came > reached) setReached(came);
  return (
    <>
      {section.heading && (
        <Title order={2} mt="lg" mb={8}>
          {section.heading}
        </Title>
      )}
      {error && <ErrorState error={error} retry={retry} />}
      <div ref={ref} className={classes.grid} style={{ marginBottom: 12 }}>
        {!error &&
          section.charts.map((chart, place) =>
            isPending[Math.floor(place / TOGETHER)] ? (
              <ChartPlace key={chart.id} isAwaited={seen} />
            ) : (
              <ChartCard key={chart.id} chart={chart} steps={NO_STEPS} {...{ data, stepsByLine }} {...common} />
            ),
          )}
      </div>
    </>
  );
}

/** Metrics of each part of the section's charts. */
function keysOfParts({ charts }: Section): string[][] {
  return Array.from({ length: Math.ceil(charts.length / TOGETHER) }, (_, part) => {
    const lines = charts.slice(part * TOGETHER, (part + 1) * TOGETHER).flatMap(chart => chart.lines([]));
    return [...new Set(lines.map(line => splitKey(line.key).metric))].sort();
  });
}
