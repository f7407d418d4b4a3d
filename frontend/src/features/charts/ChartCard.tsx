/** One chart with its title, explanation, and its data as a table. */
import { Paper } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { useCallback, useContext, useMemo, useState } from "react";
import type { Metrics, XAxis } from "@/api/model";
import { dropTarget } from "@/lib/dropTarget";
import { ChartHead } from "./ChartHead";
import { ChartTable } from "./ChartTable";
import type { ChartSpec } from "./charts";
import classes from "./charts.module.css";
import { LineChart } from "./LineChart";
import type { Mark } from "./options";
import { DRAGGED_CHART, PinHandle } from "./PinHandle";
import { usePlotHeight } from "./usePlotHeight";
import { WholePage } from "./wholePage";

interface Props {
  chart: ChartSpec;
  data: Metrics | undefined;
  names: string[];
  /** The x of the run's steps. */
  steps: number[];
  /** The same by line, if each line belongs to a different run. */
  stepsByLine?: Record<string, number[]>;
  /** The same metrics of another run, drawn faintly behind. */
  ghost?: { data: Metrics; steps: number[] };
  xAxis: XAxis;
  marks: Mark[];
  smoothing: number;
  range: [number, number] | null;
  onZoom: (range: [number, number] | null) => void;
  onPick?: (x: number) => void;
  syncKey: string;
  /** Metrics whose lines are not drawn. */
  hidden: ReadonlySet<string>;
  onHide: (key: string) => void;
  /** Ids of the pinned charts. */
  pins: string[];
  /** Undefined if charts cannot be pinned. */
  onPin?: (id: string) => void;
  /** The pinned charts that are shown, and a callback that moves one to the position of another. */
  shownPins?: string[];
  onPlace?: (id: string, at: string) => void;
  /** Ids of the charts with a switched axis. */
  flipped: ReadonlySet<string>;
  onFlip: (id: string) => void;
}

export function ChartCard({ chart, data, names, steps, stepsByLine, ghost, ...props }: Props) {
  const { pins, onPin, shownPins = [], onPlace, flipped, onFlip, ...rest } = props;
  const height = usePlotHeight();
  const whole = useContext(WholePage);
  const [table, setTable] = useState(false);
  const [isOver, setOver] = useState(false);
  const log = (chart.log ?? false) !== flipped.has(chart.id);
  const flip = useCallback(() => onFlip(chart.id), [onFlip, chart.id]);
  // Charts far outside of the screen draw nothing, so that many charts stay quick.
  const { ref, entry } = useIntersection<HTMLDivElement>({ rootMargin: "300px" });
  const lines = useMemo(
    () => chart.lines(names).filter(line => data?.series[line.key] !== undefined),
    [chart, names, data],
  );
  const series = useMemo(() => lines.map(line => data?.series[line.key]), [lines, data]);
  const stepsOf = useMemo(() => stepsByLine && lines.map(line => stepsByLine[line.key]), [lines, stepsByLine]);
  const ghosts = useMemo(() => ghost && lines.map(line => ghost.data.series[line.key]), [lines, ghost]);
  const isPinned = pins.includes(chart.id);
  const title = chart.unit ? `${chart.title}, ${chart.unit}` : chart.title;
  const empty = series.every(one => !one || (one.x.length === 0 && one.nan.length === 0));
  return (
    <Paper
      ref={ref}
      className={classes.card}
      component="section"
      aria-label={title}
      data-testid={`chart-${chart.id}`}
      data-over={isOver || undefined}
      {...(isPinned && onPlace ? dropTarget(DRAGGED_CHART, setOver, id => onPlace(id, chart.id)) : {})}
    >
      <ChartHead
        chart={chart}
        isPinned={isPinned}
        log={log}
        table={table}
        onPin={onPin}
        onLog={flip}
        onTable={setTable}
      >
        {isPinned && onPlace && shownPins.length > 1 && (
          <PinHandle id={chart.id} title={chart.title} shown={shownPins} onPlace={onPlace} />
        )}
      </ChartHead>
      {empty ? (
        <div className={classes.empty} style={{ height: height + 20 }}>
          No points yet
        </div>
      ) : table ? (
        <ChartTable lines={lines} series={series} xAxis={rest.xAxis} height={height + 20} title={title} />
      ) : entry?.isIntersecting || whole ? (
        <LineChart
          label={title}
          height={height}
          yRange={chart.range}
          {...{ lines, series, steps, stepsOf, ghosts, log }}
          ghostSteps={ghost?.steps}
          {...rest}
        />
      ) : (
        <div style={{ height: height + 20 }} />
      )}
    </Paper>
  );
}
