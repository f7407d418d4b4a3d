/** The grid of live charts with one crosshair, one zoom and one x axis. */
import { Switch, Title } from "@mantine/core";
import { IconChartLine } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Fragment, useCallback, useMemo } from "react";
import type { Control, MetricName, Run, XAxis } from "@/api/model";
import { EVERY_STEP, originOf, placesOf } from "@/entities/runs/lineage";
import { runObjective, samples } from "@/entities/runs/objective";
import { controlsQuery, metricEntriesQuery, metricsQuery, type Window } from "@/entities/runs/queries";
import type { RunSearch } from "@/entities/runs/search";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Nothing } from "@/ui/Nothing";
import { useConnectionLost } from "@/lib/connection";
import { interpolate } from "@/lib/interpolate";
import { isCostAxis } from "./axes";
import { AnnotationLane } from "./AnnotationLane";
import { ChartCard } from "./ChartCard";
import { ChartPlace } from "./ChartPlace";
import { CHARTS, chartKeys, type ChartSpec, expectedCharts } from "./charts";
import { ChartsToolbar } from "./ChartsToolbar";
import classes from "./charts.module.css";
import { stepsOf } from "./gaps";
import { isFound, moreCharts } from "./more";
import { MoreCharts } from "./MoreCharts";
import { SavedViews } from "./SavedViews";
import { TimelineCard } from "./TimelineCard";
import { useControlMarks } from "./useControlMarks";
import { useDefaultView } from "./useDefaultView";
import { useFreshCosts } from "./useFreshCosts";
import { useGhost } from "./useGhost";
import { usePins } from "./usePins";
import { joined, listed, toggled } from "./views";

const NO_CONTROLS: Control[] = [];
const NO_METRICS: MetricName[] = [];

/** Charts at the top. They are fetched separately if the page has more metrics than this. */
const TOP = 3;
const FEW_KEYS = 16;
/** Number of placeholders while loading. */
const PLACES = 6;

export function ChartsTab({ run }: { run: Run }) {
  const search = useSearch({ from: "/app/runs/$runId" });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const lost = useConnectionLost();
  const x: XAxis = search.x ?? "step";
  const smoothing = search.smooth ?? 0;
  const { from, to } = search;
  const range = useMemo(
    (): [number, number] | null => (from !== undefined && to !== undefined ? [from, to] : null),
    [from, to],
  );
  const change = useCallback(
    (next: Partial<RunSearch>) =>
      void navigate({ search: previous => ({ ...previous, ...next }), replace: true, resetScroll: false }),
    [navigate],
  );
  const flipped = useMemo(() => new Set(listed(search.log)), [search.log]);
  const flip = useCallback((id: string) => change({ log: joined(toggled([...flipped], id)) }), [change, flipped]);
  useDefaultView(search, change);
  const { pins, toggle, place } = usePins(search.pins, change);
  const names = useQuery(metricEntriesQuery(run.id));
  const entries = names.data ?? NO_METRICS;
  const { known, more, pinned, keys } = useMemo(() => arranged(entries, pins), [entries, pins]);
  const window: Window = { x, from: wide(from, to, x, -1), to: wide(from, to, x, 1) };
  const metrics = useQuery(metricsQuery(run.id, keys, window));
  const { find } = search;
  const wanted = (chart: ChartSpec) => !find?.trim() || isFound(chart, known, find.trim());
  const reported = CHARTS.filter(chart => chart.lines(known).some(line => known.includes(line.key)));
  const drawn = (known.length === 0 ? expectedCharts(runObjective(run)) : reported).filter(
    chart => !pins.includes(chart.id),
  );
  const visible = [...pinned, ...drawn].filter(wanted);
  // The charts on top need not wait for all others.
  const top = visible.slice(0, TOP).flatMap(chart => chart.lines(known).map(line => line.key));
  const early = useQuery({
    ...metricsQuery(
      run.id,
      keys.filter(key => top.includes(key)),
      window,
    ),
    enabled: metrics.isPending && keys.length > FEW_KEYS && top.some(key => keys.includes(key)),
  });
  const data = metrics.data ?? early.data;
  const ready = !metrics.isPending || keys.length === 0 ? visible.length : early.data ? TOP : 0;
  const steps = useMemo(() => stepsOf(data?.series ?? {}), [data]);
  const origin = originOf(run);
  const ghost = useGhost(run, keys, window, search.parent !== "off");
  const controls = useQuery(controlsQuery(run.id)).data?.data ?? NO_CONTROLS;
  const marks = useControlMarks(run.id, controls, x);
  const stepOf = useQuery({ ...metricsQuery(run.id, EVERY_STEP, { x: "step" }), enabled: x !== "step" });

  useFreshCosts(run, x);
  const zoom = (next: [number, number] | null) => change({ from: tidy(next?.[0], x), to: tidy(next?.[1], x) });
  const hidden = useMemo(() => new Set(search.hide?.split(",")), [search.hide]);
  const hide = (key: string) => {
    const next = hidden.has(key) ? [...hidden].filter(one => one !== key) : [...hidden, key];
    change({ hide: next.join(",") || undefined });
  };
  const pick = (at: number) => {
    const step = x === "step" ? at : interpolate(placesOf(metrics.data), placesOf(stepOf.data), at);
    if (step !== null && step > 0) {
      void navigate({ search: previous => ({ ...previous, tab: "rollouts", step: Math.round(step) }) });
    }
  };
  // What could not be read is not "No points yet".
  const sampled = samples(run);
  const unread = [names, metrics].some(query => query.isError && query.data === undefined);
  const waiting = (run.state === "draft" || run.state === "queued") && names.isSuccess && known.length === 0;
  const sections = more.flatMap(({ heading, charts }) => {
    const left = charts.filter(chart => !pins.includes(chart.id) && wanted(chart));
    return left.length > 0 ? [{ heading, charts: left }] : [];
  });
  const reach = range ?? [steps[0] ?? 0, steps.at(-1) ?? 0];
  const common = {
    names: known,
    steps,
    xAxis: x,
    marks,
    smoothing,
    range,
    onZoom: zoom,
    onPick: sampled ? pick : undefined,
    syncKey: `run-${run.id}`,
    hidden,
    onHide: hide,
    pins,
    onPin: toggle,
    shownPins: pinned.filter(wanted).map(chart => chart.id),
    onPlace: place,
    flipped,
    onFlip: flip,
  };
  return (
    <>
      <ChartsToolbar
        runs={[run]}
        search={search}
        hint={sampled ? "Drag to zoom · click a point for its rollouts" : "Drag to zoom"}
        onChange={change}
      >
        <SavedViews search={search} pins={pins} onChange={change} />
        {origin && (
          <Switch
            size="xs"
            label="Parent overlay"
            title={`Curves of ${origin.name}, dotted, on the same axis`}
            checked={search.parent !== "off"}
            onChange={event => change({ parent: event.currentTarget.checked ? undefined : "off" })}
          />
        )}
      </ChartsToolbar>
      {metrics.isError && <ErrorState error={metrics.error} retry={() => void metrics.refetch()} />}
      {names.isError && <ErrorState error={names.error} retry={() => void names.refetch()} />}
      {waiting && <NotStarted run={run} />}
      {!waiting && !unread && <AnnotationLane run={run} marks={marks} range={reach} xAxis={x} />}
      <div className={classes.grid} hidden={waiting} data-stale={lost || undefined}>
        {unread
          ? null
          : names.isPending
            ? visible.slice(0, PLACES).map(chart => <ChartPlace key={chart.id} isAwaited />)
            : visible.slice(0, Math.max(ready, PLACES)).map((chart, index) => (
                <Fragment key={chart.id}>
                  {chart.group && chart.group !== visible[index - 1]?.group && (
                    <Title order={2} className={classes.group}>
                      {chart.group}
                    </Title>
                  )}
                  {index < ready ? <ChartCard {...{ chart, data, ghost }} {...common} /> : <ChartPlace isAwaited />}
                </Fragment>
              ))}
      </div>
      {/* Wait for the names: a chart without its metrics would appear and vanish. */}
      {!waiting && !names.isPending && <TimelineCard runId={run.id} />}
      {!waiting && !unread && (
        <MoreCharts run={run} isGhostDrawn={search.parent !== "off"} {...{ sections, window, common }} />
      )}
      {find && names.isSuccess && visible.length === 0 && sections.length === 0 && (
        <Nothing>No metric matches “{find}”.</Nothing>
      )}
    </>
  );
}

/** The metrics that a run has reported, and the charts next to the curated ones. */
function arranged(entries: MetricName[], pins: string[]) {
  const known = entries.map(entry => entry.name);
  const curated = chartKeys(known);
  const more = moreCharts(entries, new Set(curated));
  const all = new Map([...CHARTS, ...more.flatMap(({ charts }) => charts)].map(chart => [chart.id, chart]));
  const pinned = pins.flatMap(id => {
    const chart = all.get(id);
    return chart?.lines(known).some(line => known.includes(line.key)) ? [{ ...chart, group: undefined }] : [];
  });
  const extra = pinned.flatMap(chart => chart.lines(known).map(line => line.key)).filter(key => known.includes(key));
  return { known, more, pinned, keys: [...new Set([...curated, ...extra])].sort() };
}

function NotStarted({ run }: { run: Run }) {
  return (
    <EmptyState
      icon={<IconChartLine size={40} stroke={1.3} />}
      title={run.state === "draft" ? "Not started yet" : "Queued"}
    >
      {run.state === "draft"
        ? "Start the run. Charts appear after the first step."
        : run.state_reason || "The run starts when a slot is free."}
    </EmptyState>
  );
}

/** The fetched window extends beyond the drawn one, so that lines reach the edges. */
function wide(from: number | undefined, to: number | undefined, x: XAxis, side: -1 | 1): number | undefined {
  if (from === undefined || to === undefined) return undefined;
  const edge = (side < 0 ? from : to) + side * (to - from) * 0.05;
  if (isCostAxis(x)) return Math.max(0, edge);
  return Math.max(0, side < 0 ? Math.floor(edge) : Math.ceil(edge));
}

function tidy(value: number | undefined, x: XAxis): number | undefined {
  if (value === undefined) return undefined;
  if (isCostAxis(x)) return Number(value.toPrecision(6));
  return x === "tokens" ? Math.round(value) : Number(value.toFixed(2));
}
