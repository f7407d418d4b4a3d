/** Compares runs: results, differences, and every metric with one line per run. All of it is in the address. */
import { Button, Skeleton, Stack, Switch, Text } from "@mantine/core";
import { IconChartLine, IconFileText } from "@tabler/icons-react";
import { useQueries } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Run, XAxis } from "@/api/model";
import { ChartsToolbar } from "@/features/charts/ChartsToolbar";
import { isFound } from "@/features/charts/more";
import { joined, listed, toggled } from "@/features/charts/views";
import { useMakeReport } from "@/entities/reports/useMakeReport";
import { metricEntriesQuery, type Window } from "@/entities/runs/queries";
import { comparedIds, type CompareSearch, MOST_COMPARED, namedIds } from "@/entities/runs/search";
import { isLive } from "@/entities/runs/states";
import { useCan } from "@/features/session/session";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Nothing } from "@/ui/Nothing";
import { PageHeader } from "@/ui/PageHeader";
import { changedKeys } from "@/features/runs/overlay/changed";
import { ComparedRuns } from "./ComparedRuns";
import { Differences } from "@/features/runs/overlay/Differences";
import { Evaluations } from "@/features/runs/overlay/Evaluations";
import { allMetrics, lineKey, overlaySections, splitKey } from "@/features/runs/overlay/overlay";
import { OverlaySection } from "@/features/runs/overlay/OverlaySection";
import { ParallelCoordinates } from "./ParallelCoordinates";
import { reportOfCompared } from "@/features/runs/overlay/reportOf";
import { useRuns } from "@/features/runs/overlay/useRuns";
import { useShifts } from "@/features/runs/overlay/useShifts";

const LOOK_EVERY = 10_000;
/** Rows of the tables above the charts that are shown at first, so that charts are seen as well. */
const FEW = 3;
const NO_PINS: string[] = [];

export function ComparePage() {
  const search = useSearch({ from: "/app/runs/compare" });
  const navigate = useNavigate({ from: "/runs/compare" });
  const change = (next: Partial<CompareSearch>) =>
    void navigate({ search: previous => ({ ...previous, ...next }), replace: true, resetScroll: false });
  const asked = namedIds(search).length;
  const ids = useMemo(() => comparedIds({ runs: search.runs }), [search.runs]);
  const hidden = useMemo(() => new Set(search.hide?.split(",")), [search.hide]);
  const { runs, missing, failed, isPending } = useRuns(ids);
  const setRuns = (next: string[]) => change({ runs: next.join(",") || undefined });
  const hide = (id: string) => {
    const next = hidden.has(id) ? [...hidden].filter(one => one !== id) : [...hidden, id];
    change({ hide: next.join(",") || undefined });
  };
  return (
    <>
      <PageHeader title="Compare runs" />
      {failed && <ErrorState error={failed.error} retry={() => void failed.refetch()} />}
      {isPending && !failed ? (
        <Stack aria-busy="true" aria-label="Loading">
          <Skeleton height={90} />
          <Skeleton height={420} />
        </Stack>
      ) : (
        <ComparedRuns
          {...{ runs, missing, hidden }}
          onHide={hide}
          onAdd={id => setRuns([...ids, id])}
          onRemove={id => setRuns(ids.filter(one => one !== id))}
        />
      )}
      {asked > ids.length && (
        <Text size="sm" c="dimmed" mb="sm" role="status">
          The address names {asked} runs: the first {MOST_COMPARED} are compared.
        </Text>
      )}
      {ids.length === 0 && (
        <EmptyState icon={<IconChartLine size={40} stroke={1.3} />} title="Nothing to compare yet">
          Add runs above, or select them in the list of runs. Their charts are overlaid here.
        </EmptyState>
      )}
      {!isPending && runs.length > 0 && <Comparison {...{ runs, search, change, hidden }} onHide={hide} />}
    </>
  );
}

interface ComparisonProps {
  runs: Run[];
  search: CompareSearch;
  change: (next: Partial<CompareSearch>) => void;
  hidden: ReadonlySet<string>;
  onHide: (id: string) => void;
}

function Comparison({ runs, search, change, hidden, onHide }: ComparisonProps) {
  const { find, from, to } = search;
  const x: XAxis = search.x ?? "step";
  const names = useQueries({
    queries: runs.map(run => ({ ...metricEntriesQuery(run.id), refetchInterval: isLive(run.state) && LOOK_EVERY })),
    combine: found => ({
      metrics: allMetrics(found.map(one => one.data)),
      failed: found.find(one => one.isError && one.data === undefined),
      isPending: found.some(one => one.isPending),
    }),
  });
  const { metrics } = names;
  const shifts = useShifts(runs, x, search.lineage !== "off");
  const sections = useMemo(() => overlaySections(metrics, runs), [metrics, runs]);
  const keys = useMemo(() => changedKeys(runs.map(run => run.effective_spec ?? null)), [runs]);
  const isHidden = useMemo(
    () => new Set(metrics.flatMap(({ name }) => [...hidden].map(id => lineKey(id, name)))),
    [metrics, hidden],
  );
  const range = useMemo(
    (): [number, number] | null => (from !== undefined && to !== undefined ? [from, to] : null),
    [from, to],
  );
  const window: Window = { x, from, to };
  const shown = sections.flatMap(section => {
    const charts = section.charts.filter(chart => !find?.trim() || isFound(chart, [], find.trim()));
    return charts.length > 0 ? [{ ...section, charts }] : [];
  });
  const flipped = new Set(listed(search.log));
  const editor = useCan("editor");
  const report = useMakeReport();
  const common = {
    names: [],
    xAxis: x,
    marks: [],
    smoothing: search.smooth ?? 0,
    range,
    onZoom: (next: [number, number] | null) => change({ from: next?.[0], to: next?.[1] }),
    syncKey: "compare",
    hidden: isHidden,
    onHide: (key: string) => onHide(splitKey(key).runId),
    pins: NO_PINS,
    flipped,
    onFlip: (id: string) => change({ log: joined(toggled([...flipped], id)) }),
  };
  const ids = new Set(runs.map(run => run.id));
  const hasChildren = runs.some(run => run.parent && ids.has(run.parent.run));
  return (
    <>
      {runs.length > 1 && <Differences runs={runs} keys={keys} few={FEW} />}
      <ParallelCoordinates {...{ runs, keys, hidden }} />
      <Evaluations runs={runs} metrics={metrics} few={FEW} />
      <ChartsToolbar runs={runs} search={search} hint="Drag to zoom · double-click to reset" onChange={change}>
        {editor && (
          <Button
            size="compact-xs"
            variant="light"
            leftSection={<IconFileText size={14} />}
            loading={report.isPending}
            disabled={names.isPending} // without names it would have no chart
            onClick={() => report.mutate(reportOfCompared(runs, search, metrics))}
          >
            Create report
          </Button>
        )}
        {hasChildren && (
          <Switch
            size="xs"
            label="Align forks to parents"
            checked={search.lineage !== "off"}
            onChange={event => change({ lineage: event.currentTarget.checked ? undefined : "off" })}
          />
        )}
      </ChartsToolbar>
      {names.failed && <ErrorState error={names.failed.error} retry={() => void names.failed?.refetch()} />}
      {shown.map(section => (
        <OverlaySection key={section.id} {...{ section, runs, shifts, window, common }} />
      ))}
      {!names.isPending && !names.failed && shown.length === 0 && (
        <Nothing>{find ? `No metric matches “${find}”.` : "None of these runs has reported a metric yet."}</Nothing>
      )}
    </>
  );
}
