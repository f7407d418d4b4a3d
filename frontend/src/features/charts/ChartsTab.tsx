/** The grid of live charts with one crosshair, one zoom and one x axis. */
import { Button, Group, SegmentedControl, Skeleton, Slider, Text, Title } from "@mantine/core";
import { IconChartLine, IconZoomReset } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Fragment, useMemo } from "react";
import type { Control, Run, XAxis } from "@/api/model";
import { controlsQuery, metricNamesQuery, metricsQuery } from "@/features/runs/data/queries";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import ui from "@/ui/ui.module.css";
import { interpolate } from "./align";
import { ChartCard } from "./ChartCard";
import { CHARTS, chartKeys } from "./charts";
import classes from "./charts.module.css";
import { stepsOf } from "./gaps";
import { TimelineCard } from "./TimelineCard";
import { useControlMarks } from "./useControlMarks";

const X_AXES = [
  { value: "step", label: "Step" },
  { value: "time", label: "Time" },
  { value: "tokens", label: "Tokens" },
];
const NO_CONTROLS: Control[] = [];

export function ChartsTab({ run }: { run: Run }) {
  const search = useSearch({ from: "/app/runs/$runId" });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const x: XAxis = search.x ?? "step";
  const smoothing = search.smooth ?? 0;
  const { from, to } = search;
  const range = useMemo(
    (): [number, number] | null => (from !== undefined && to !== undefined ? [from, to] : null),
    [from, to],
  );
  const names = useQuery(metricNamesQuery(run.id));
  const known = useMemo(() => names.data ?? [], [names.data]);
  const keys = useMemo(() => chartKeys(known), [known]);
  const metrics = useQuery(metricsQuery(run.id, keys, { x, from: wide(from, to, -1), to: wide(from, to, 1) }));
  const steps = useMemo(() => stepsOf(metrics.data?.series ?? {}), [metrics.data]);
  const controls = useQuery(controlsQuery(run.id)).data?.data ?? NO_CONTROLS;
  const marks = useControlMarks(run.id, controls, x);
  const stepOf = useQuery({ ...metricsQuery(run.id, ["critic/score/mean"], { x: "step" }), enabled: x !== "step" });

  const zoom = (next: [number, number] | null) =>
    void navigate({
      search: previous => ({ ...previous, from: tidy(next?.[0], x), to: tidy(next?.[1], x) }),
      replace: true,
      resetScroll: false,
    });
  const pick = (at: number) => {
    const axis = metrics.data?.series["critic/score/mean"]?.x ?? [];
    const steps = stepOf.data?.series["critic/score/mean"]?.x ?? [];
    const step = x === "step" ? at : interpolate(axis, steps, at);
    if (step !== null && step > 0) {
      void navigate({ search: previous => ({ ...previous, tab: "rollouts", step: Math.round(step) }) });
    }
  };
  // What could not be read is not "No points yet".
  const unread = [names, metrics].some(query => query.isError && query.data === undefined);
  const waiting = (run.state === "draft" || run.state === "queued") && names.isSuccess && known.length === 0;
  const visible = CHARTS.filter(
    chart => known.length === 0 || chart.lines(known).some(line => known.includes(line.key)),
  );
  return (
    <>
      <div className={ui.toolbar}>
        <SegmentedControl
          size="xs"
          aria-label="X axis"
          data={X_AXES}
          value={x}
          onChange={next =>
            void navigate({
              search: previous => ({
                ...previous,
                x: next === "step" ? undefined : (next as XAxis),
                from: undefined,
                to: undefined,
              }),
              replace: true,
              resetScroll: false,
            })
          }
        />
        <Group gap={8} wrap="nowrap">
          <Text size="xs" c="dimmed">
            Smoothing
          </Text>
          <Slider
            w={110}
            size="xs"
            min={0}
            max={0.98}
            step={0.02}
            label={value => value.toFixed(2)}
            value={smoothing}
            onChange={next =>
              void navigate({
                search: previous => ({ ...previous, smooth: next > 0 ? Number(next.toFixed(2)) : undefined }),
                replace: true,
                resetScroll: false,
              })
            }
            thumbLabel="Smoothing"
          />
        </Group>
        {range && (
          <Button
            size="compact-xs"
            variant="light"
            leftSection={<IconZoomReset size={14} />}
            onClick={() => zoom(null)}
          >
            Reset zoom
          </Button>
        )}
        <Text size="xs" c="dimmed" ml="auto" visibleFrom="md">
          Drag to zoom · click a point for its rollouts
        </Text>
      </div>
      {metrics.isError && <ErrorState error={metrics.error} retry={() => void metrics.refetch()} />}
      {names.isError && <ErrorState error={names.error} retry={() => void names.refetch()} />}
      {waiting && <NotStarted run={run} />}
      {!waiting && <TimelineCard runId={run.id} />}
      <div className={classes.grid} hidden={waiting}>
        {unread
          ? null
          : names.isPending || (keys.length > 0 && metrics.isPending)
            ? visible.slice(0, 6).map(chart => <Skeleton key={chart.id} height={264} radius="sm" />)
            : visible.map((chart, index) => (
                <Fragment key={chart.id}>
                  {chart.group && chart.group !== visible[index - 1]?.group && (
                    <Title order={2} className={classes.group}>
                      {chart.group}
                    </Title>
                  )}
                  <ChartCard
                    chart={chart}
                    data={metrics.data}
                    names={known}
                    steps={steps}
                    xAxis={x}
                    marks={marks}
                    smoothing={smoothing}
                    range={range}
                    onZoom={zoom}
                    onPick={pick}
                    syncKey={`run-${run.id}`}
                  />
                </Fragment>
              ))}
      </div>
    </>
  );
}

function NotStarted({ run }: { run: Run }) {
  return (
    <EmptyState
      icon={<IconChartLine size={40} stroke={1.3} />}
      title={run.state === "draft" ? "Not started yet" : "Waiting in the queue"}
    >
      {run.state === "draft"
        ? "Start the run, and its charts appear here with the first step."
        : run.state_reason || "The run starts as soon as a place is free."}
    </EmptyState>
  );
}

/** The window asked for reaches a little beyond the one drawn, so that lines go on to the edges. */
function wide(from: number | undefined, to: number | undefined, side: -1 | 1): number | undefined {
  if (from === undefined || to === undefined) return undefined;
  const edge = (side < 0 ? from : to) + side * (to - from) * 0.05;
  return Math.max(0, side < 0 ? Math.floor(edge) : Math.ceil(edge));
}

function tidy(value: number | undefined, x: XAxis): number | undefined {
  if (value === undefined) return undefined;
  return x === "tokens" ? Math.round(value) : Number(value.toFixed(2));
}
