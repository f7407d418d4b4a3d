/** uPlot, wrapped once. Draws what it is given; zoom and picks go to the owner of the view state. */
import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import type { MetricSeries, XAxis } from "@/api/model";
import { formatNumber } from "@/lib/format";
import { align, type Column, latest, valueAt } from "./align";
import { ChartLegend } from "./ChartLegend";
import classes from "./charts.module.css";
import { chartOptions, type Drawn, formatX, type LineStyle, type Mark } from "./options";

/** Milliseconds within which a second click belongs to the first. */
const DOUBLE_CLICK = 240;

export interface LineChartProps {
  label: string;
  lines: LineStyle[];
  series: (MetricSeries | undefined)[];
  /** The x of the run's steps; see `gaps.ts`. */
  steps: number[];
  /** If each line belongs to a different run: the steps of each. */
  stepsOf?: (number[] | undefined)[];
  /** The curve of each line in another run, drawn faintly behind it, with that run's steps. */
  ghosts?: (MetricSeries | undefined)[];
  ghostSteps?: number[];
  xAxis: XAxis;
  marks: Mark[];
  smoothing: number;
  log: boolean;
  /** Ends of the left axis; null: as the values ask. */
  yRange?: [number | null, number | null];
  range: [number, number] | null;
  onZoom: (range: [number, number] | null) => void;
  onPick?: (x: number) => void;
  syncKey: string;
  height: number;
  hidden: ReadonlySet<string>;
  onHide: (key: string) => void;
}

export function LineChart(props: LineChartProps) {
  const { steps, stepsOf, ghosts, ghostSteps, xAxis, marks, smoothing, log, range, syncKey, height, hidden } = props;
  // A hidden line is as good as none, so that the axes fit the others; the legend keeps all.
  const shown = useMemo(() => props.lines.map(line => !hidden.has(line.key)), [props.lines, hidden]);
  const lines = useMemo(() => props.lines.filter((_, index) => shown[index]), [props.lines, shown]);
  const series = useMemo(() => props.series.filter((_, index) => shown[index]), [props.series, shown]);
  const behind = useMemo(() => ghosts?.filter((_, index) => shown[index]) ?? [], [ghosts, shown]);
  const scheme = useComputedColorScheme("light");
  const { ref: sizeRef, width } = useElementSize<HTMLDivElement>();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  // Rare values and settings are shown as they are.
  const treatments = useMemo(() => {
    const own = stepsOf?.filter((_, index) => shown[index]);
    const treated = lines.map(({ rare, stepped }, index) => ({
      rare,
      smoothing: rare || stepped ? 0 : smoothing,
      steps: own?.[index],
    }));
    return [...treated, ...behind.map((_, index) => ({ ...treated[index], steps: ghostSteps }))];
  }, [lines, smoothing, stepsOf, shown, behind, ghostSteps]);
  const aligned = useMemo(() => align([...series, ...behind], steps, treatments), [series, behind, steps, treatments]);
  const raw = useMemo(() => {
    if (smoothing <= 0) return null;
    const plain = treatments.map(one => ({ ...one, smoothing: 0 }));
    return align([...series, ...behind], steps, plain).mean;
  }, [series, behind, steps, treatments, smoothing]);
  const data = useMemo(() => columns(aligned, raw, lines.length, log), [aligned, raw, lines.length, log]);
  const drawn = useRef<Drawn>({ marks, nan: aligned.nan, range });
  const handlers = useRef(props);
  const filling = useRef(data);
  const structure =
    lines.map(line => `${line.key}:${line.color}:${line.axis}:${line.label}`).join("|") + String(props.yRange ?? "");

  useEffect(() => {
    drawn.current = { marks, nan: aligned.nan, range };
    handlers.current = props;
    filling.current = data;
  });

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const made = new uPlot(
      chartOptions({
        lines: handlers.current.lines.filter(line => !handlers.current.hidden.has(line.key)),
        xAxis,
        log,
        yRange: handlers.current.yRange,
        width: Math.max(element.clientWidth, 80),
        height,
        syncKey,
        drawn: () => drawn.current,
        onCursor: setCursor,
        onZoom: found => handlers.current.onZoom(found),
      }),
      // Recreated for any reason, it has its data immediately.
      filling.current,
      element,
    );
    plot.current = made;
    // uPlot swallows the click that ends a drag, so a click means a point – unless a second one makes it a reset.
    let picking: number | undefined;
    made.over.addEventListener("click", () => {
      window.clearTimeout(picking);
      const index = made.cursor.idx;
      const x = index === null || index === undefined ? undefined : made.data[0][index];
      if (x !== undefined) picking = window.setTimeout(() => handlers.current.onPick?.(x), DOUBLE_CLICK);
    });
    made.over.addEventListener("dblclick", () => {
      window.clearTimeout(picking);
      handlers.current.onZoom(null);
    });
    return () => {
      window.clearTimeout(picking);
      made.destroy();
      plot.current = null;
    };
  }, [structure, scheme, log, xAxis, syncKey, height]);

  useEffect(() => {
    plot.current?.setData(data, true);
  }, [data, range, marks]);

  useEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height });
  }, [width, height]);

  return (
    <div>
      <ChartLegend
        lines={props.lines}
        values={props.lines.map(line => {
          const column = aligned.mean[lines.indexOf(line)] ?? [];
          return stepsOf ? overlaidValue(aligned.x, column, cursor) : legendValue(column, cursor);
        })}
        hidden={hidden}
        onHide={props.onHide}
        at={cursor === null ? null : formatX(aligned.x[cursor] ?? 0, xAxis)}
      />
      <div ref={sizeRef} className={classes.plot} style={{ height }}>
        {/* The canvas is a picture: its values are in the legend and in the data table of the card. */}
        <div
          ref={host}
          role="img"
          aria-label={summary(props.label, lines, aligned.mean)}
          className={props.onPick ? classes.pickable : undefined}
        />
      </div>
    </div>
  );
}

/** What uPlot draws: of each line its values, those without smoothing, the extremes, and its ghost. */
function columns(
  aligned: ReturnType<typeof align>,
  raw: Column[] | null,
  lines: number,
  log: boolean,
): uPlot.AlignedData {
  const none: Column = new Array<null>(aligned.x.length).fill(null);
  const fit = (column: Column): Column =>
    log ? column.map(value => (typeof value === "number" && value <= 0 ? null : value)) : column;
  const rest = aligned.mean
    .slice(0, lines)
    .flatMap((mean, index) => [
      fit(mean),
      raw ? fit(raw[index] ?? none) : none,
      fit(aligned.min[index] ?? none),
      fit(aligned.max[index] ?? none),
      fit(aligned.mean[lines + index] ?? none),
    ]);
  return [aligned.x, ...rest];
}

/** The value at the crosshair, else the latest; null if there is none. */
export function legendValue(column: Column, cursor: number | null): number | null {
  return cursor === null ? latest(column) : (column[cursor] ?? null);
}

/** The same for overlaid runs: each has its own steps, and an ended run keeps its last value. */
function overlaidValue(x: number[], column: Column, cursor: number | null): number | null {
  if (cursor !== null) return valueAt(x, column, cursor);
  return column.findLast(value => typeof value === "number") ?? null;
}

function summary(label: string, lines: LineStyle[], means: Column[]): string {
  const parts = lines.map((line, index) => {
    const value = latest(means[index] ?? []);
    return `${line.label} ${value === null ? "no value" : formatNumber(value)}`;
  });
  return `${label}: ${parts.join(", ")}`;
}
