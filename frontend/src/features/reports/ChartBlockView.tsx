/** Charts of a block: those of the page that compares runs, live or as they were at an instant. */
import { Skeleton, Text, Title } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { MetricName, Run, XAxis } from "@/api/model";
import { formatX } from "@/features/charts/options";
import { toggled } from "@/features/charts/views";
import type { BlockOf } from "@/entities/reports/blocks";
import { metricEntriesQuery } from "@/entities/runs/queries";
import { isLive } from "@/entities/runs/states";
import { allMetrics, lineKey, splitKey } from "@/features/runs/overlay/overlay";
import { OverlaySection } from "@/features/runs/overlay/OverlaySection";
import { useShifts } from "@/features/runs/overlay/useShifts";
import { ErrorState } from "@/ui/ErrorState";
import { Nothing } from "@/ui/Nothing";
import { TextLink } from "@/ui/TextLink";
import { BlockRuns } from "./BlockRuns";
import { chartsOf, compareSearchOf } from "./chart";
import { Freshness } from "./Freshness";
import classes from "./reports.module.css";

type Chart = BlockOf<"chart">;
const NO_PINS: string[] = [];
const LOOK_EVERY = 10_000;

export function ChartBlockView({ block }: { block: Chart }) {
  if (block.metrics.length === 0) return <Nothing>No metric selected.</Nothing>;
  const several = block.metrics.length > 1 && !block.together;
  return (
    <div>
      {several && block.title && (
        <Title order={2} size="h3" mb={6}>
          {block.title}
        </Title>
      )}
      <BlockRuns mentions={block.runs}>{runs => <Charts {...{ block, runs }} />}</BlockRuns>
      <About block={block} />
    </div>
  );
}

function Charts({ block, runs }: { block: Chart; runs: Run[] }) {
  const { metrics, failed, isPending } = useMetrics(runs);
  const x: XAxis = block.x ?? "step";
  const shifts = useShifts(runs, x, block.lineage !== false);
  const charts = useMemo(() => chartsOf(block, metrics, runs), [block, metrics, runs]);
  const [zoom, setZoom] = useState<[number, number] | null>(null);
  const [hiddenRuns, setHidden] = useState<string[]>([]);
  const [flipped, setFlipped] = useState<string[]>([]);
  const hidden = useMemo(
    () => new Set(block.metrics.flatMap(metric => hiddenRuns.map(id => lineKey(id, metric)))),
    [block.metrics, hiddenRuns],
  );
  const range = useMemo(() => zoom ?? ends(block), [zoom, block]);
  if (failed) return <ErrorState error={failed.error} retry={() => void failed.refetch()} />;
  if (isPending) return <Skeleton height={240} aria-busy="true" aria-label="Loading" />;
  if (charts.length === 0) return <Nothing>None of these runs has reported {block.metrics.join(", ")}.</Nothing>;
  const common = {
    names: [],
    xAxis: x,
    marks: [],
    smoothing: block.smooth ?? 0,
    range,
    onZoom: setZoom,
    syncKey: `report-${block.id}`,
    hidden,
    onHide: (key: string) => setHidden(toggled(hiddenRuns, splitKey(key).runId)),
    pins: NO_PINS,
    flipped: new Set(flipped),
    onFlip: (id: string) => setFlipped(toggled(flipped, id)),
  };
  const untold = block.metrics.filter(name => !metrics.some(metric => metric.name === name));
  return (
    <div className={charts.length === 1 ? classes.alone : classes.beside}>
      <OverlaySection
        section={{ id: block.id, charts }}
        {...{ runs, shifts, common }}
        window={{ x, from: block.x_from ?? undefined, to: block.x_to ?? undefined }}
        asOf={block.as_of ?? undefined}
      />
      {untold.length > 0 && (
        <Text size="xs" c="dimmed" mb={8} role="note">
          None of these runs has reported {untold.join(", ")}.
        </Text>
      )}
    </div>
  );
}

function About({ block }: { block: Chart }) {
  const { x = "step", x_from: from, x_to: to } = block;
  const isKnown = (end: number | null | undefined): end is number => end !== null && end !== undefined;
  const reach = [isKnown(from) ? `from ${formatX(from, x)}` : "", isKnown(to) ? `up to ${formatX(to, x)}` : ""].filter(
    Boolean,
  );
  return (
    <div className={classes.about}>
      <Freshness asOf={block.as_of} />
      {reach.length > 0 && <span>Only {reach.join(" ")}.</span>}
      {(block.smooth ?? 0) > 0 && <span>Smoothing {block.smooth}</span>}
      <TextLink to="/runs/compare" search={compareSearchOf(block)} size="xs" underline="always" className="no-print">
        Open in Compare
      </TextLink>
    </div>
  );
}

function ends({ x_from: from, x_to: to }: Chart): [number, number] | null {
  return typeof from === "number" && typeof to === "number" ? [from, to] : null;
}

/** What the runs have reported, each metric once. */
export function useMetrics(runs: Run[]): {
  metrics: MetricName[];
  failed: { error: unknown; refetch: () => unknown } | undefined;
  isPending: boolean;
} {
  return useQueries({
    queries: runs.map(run => ({
      ...metricEntriesQuery(run.id),
      refetchInterval: isLive(run.state) ? LOOK_EVERY : (false as const),
    })),
    combine: found => ({
      metrics: allMetrics(found.map(one => one.data)),
      failed: found.find(one => one.isError && one.data === undefined),
      isPending: found.some(one => one.isPending),
    }),
  });
}
