/** uPlot's options for one chart: scales, axes, lines, bands, and what is drawn over them. */
import uPlot from "uplot";
import type { XAxis } from "@/api/model";
import { formatCount, formatDuration, formatNumber } from "@/lib/format";

/** One line of a chart. Each becomes five uPlot series: main, unsmoothed, minimum, maximum, and its ghost. */
export interface LineStyle {
  key: string;
  label: string;
  /** Index into the colour-blind safe palette of the theme. */
  color: number;
  dash?: number[];
  /** Not recorded at every step, such as an evaluation: a dot at each value, joined at the metric's own cadence. */
  rare?: boolean;
  /** Hold each value until the next one: for settings, such as a budget. */
  stepped?: boolean;
  axis?: "left" | "right";
}

export interface Mark {
  id: string;
  x: number;
  /** Between `x` and here, batches are mixed between two revisions; null: to the end of what is drawn. */
  until: number | null;
}

export interface Drawn {
  marks: Mark[];
  nan: number[];
  range: [number, number] | null;
}

export const SERIES_PER_LINE = 5;
const FONT = "11px 'Inter Variable', system-ui, 'DejaVu Sans', sans-serif";

export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function lineColor(line: LineStyle): string {
  return cssColor(`--c-s${line.color % 6}`);
}

/** Labels of the axes. */
export const AXIS_NAMES: Record<XAxis, string> = {
  step: "Step",
  time: "Time",
  tokens: "Tokens",
  gpu_hours: "GPU hours",
  cost: "Cost",
};

export function formatX(value: number, axis: XAxis): string {
  if (axis === "time") return formatDuration(Math.max(0, Math.round(value)));
  if (axis === "tokens") return formatCount(value);
  return axis === "step" ? value.toLocaleString("en-GB") : formatNumber(value);
}

export interface OptionsInput {
  lines: LineStyle[];
  xAxis: XAxis;
  log: boolean;
  /** Ends of the left axis; null: as the values ask. */
  yRange?: [number | null, number | null];
  width: number;
  height: number;
  syncKey: string;
  drawn: () => Drawn;
  onCursor: (index: number | null) => void;
  onZoom: (range: [number, number]) => void;
}

export function chartOptions(input: OptionsInput): uPlot.Options {
  const { lines, xAxis, log } = input;
  const text = cssColor("--c-text-3");
  const grid = cssColor("--c-grid");
  const axis = { stroke: text, font: FONT, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  const hasRight = lines.some(line => line.axis === "right");
  const yAxis = (scale: string, side: 1 | 3): uPlot.Axis => ({
    ...axis,
    scale,
    side,
    size: 46,
    gap: 4,
    grid: side === 3 ? { ...axis.grid, ...(log ? { filter: decades } : {}) } : { show: false },
    ...(log && side === 3 ? { filter: decades } : {}),
    values: (_, splits) => tickLabels(splits),
  });
  return {
    width: input.width,
    height: input.height,
    padding: [10, hasRight ? 0 : 10, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: input.syncKey },
      drag: { x: true, y: false, setScale: false, dist: 6 },
      points: { size: 6 },
      bind: { dblclick: () => null },
    },
    scales: {
      x: {
        time: false,
        range: (_, min, max) => input.drawn().range ?? (min === max ? [min - 1, max + 1] : [min, max]),
      },
      y: log ? { distr: 3, range: between(logRange, input.yRange, true) } : { range: between(padded, input.yRange) },
      ...(hasRight ? { y2: { range: padded } } : {}),
    },
    axes: [
      {
        ...axis,
        size: 26,
        gap: 4,
        space: 64,
        values: (_, splits) => splits.map(value => formatX(value, xAxis)),
        ...(xAxis === "step" ? { incrs: WHOLE_STEPS } : {}),
      },
      yAxis("y", 3),
      ...(hasRight ? [yAxis("y2", 1)] : []),
    ],
    series: [{}, ...lines.flatMap(lineSeries)],
    bands: lines.map((line, index) => {
      const first = 1 + index * SERIES_PER_LINE;
      return { series: [first + 3, first + 2] as [number, number], fill: `${lineColor(line)}26` };
    }),
    hooks: {
      setCursor: [plot => input.onCursor(plot.cursor.idx ?? null)],
      setSelect: [
        plot => {
          const { left, width } = plot.select;
          if (width > 0) input.onZoom([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      drawClear: [plot => drawBands(plot, input.drawn().marks)],
      draw: [plot => drawOver(plot, input.drawn())],
    },
  };
}

type Fit = (plot: uPlot, low: number | null, high: number | null) => [number, number];

/** What `fit` says, with the ends that are given. An end that leaves nothing to draw, or no logarithm, is not heeded. */
export function between(fit: Fit, [low, high]: OptionsInput["yRange"] = [null, null], log = false): Fit {
  return (plot, least, most) => {
    const [from, to] = fit(plot, least, most);
    const isGiven = (end: number | null): end is number => end !== null && (!log || end > 0);
    const ends: [number, number] = [isGiven(low) ? low : from, isGiven(high) ? high : to];
    return ends[0] < ends[1] ? ends : [from, to];
  };
}

/** At most eight decades: a value that is zero but for rounding must not squeeze all others into the top of the chart. */
function logRange(_: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0.1, 1];
  const [from, to] = uPlot.rangeLog(Math.max(low, high * 1e-8), high, 10, false);
  return [from ?? low, to ?? high];
}

function lineSeries(line: LineStyle): uPlot.Series[] {
  const stroke = lineColor(line);
  const scale = line.axis === "right" ? "y2" : "y";
  const hidden: uPlot.Series = { scale, stroke: "transparent", width: 0, points: { show: false } };
  return [
    {
      label: line.label,
      scale,
      stroke,
      width: 1.75,
      ...(line.dash ? { dash: line.dash } : {}),
      ...(line.stepped && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
      points: line.rare
        ? { show: true, size: 6, fill: stroke }
        : { show: false, filter: (plot, index) => lone(plot.data[index] ?? []), size: 5, fill: stroke },
    },
    { scale, stroke: `${stroke}55`, width: 1, points: { show: false } },
    hidden,
    hidden,
    { scale, stroke: `${stroke}70`, width: 1.25, dash: [2, 4], points: { show: false } },
  ];
}

/** Indices of values without a neighbour to connect to. They are drawn as dots. */
export function lone(column: ArrayLike<number | null | undefined>): number[] {
  const due = Array.from(column, (value, index) => ({ value, index })).filter(({ value }) => value !== undefined);
  const isNumber = (place: number) => typeof due[place]?.value === "number";
  return due
    .filter((_, place) => isNumber(place) && !isNumber(place - 1) && !isNumber(place + 1))
    .map(({ index }) => index);
}

/** Some margin above and below. A flat line keeps a readable scale. */
function padded(_: uPlot, min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
  if (max - min <= 1e-9 * Math.max(Math.abs(min), Math.abs(max))) {
    const room = min === 0 ? 1 : Math.abs(min) * 0.5;
    return [min === 0 ? 0 : min - room, max + room];
  }
  const air = (max - min) * 0.08;
  return [min >= 0 && min - air < 0 ? 0 : min - air, max + air];
}

/** On a logarithmic axis only powers of ten bear a label and a line; between few of them, 2 and 5 help. */
function decades(_: uPlot, splits: (number | null)[]): (number | null)[] {
  const leading = splits.map(value =>
    value === null || value <= 0 ? 0 : value / 10 ** Math.floor(Math.log10(value) + 1e-9),
  );
  const full = leading.filter(digit => Math.abs(digit - 1) < 1e-6).length >= 2;
  const shown = full ? [1] : [1, 2, 5];
  return splits.map((value, index) =>
    shown.some(digit => Math.abs((leading[index] ?? 0) - digit) < 1e-6) ? value : null,
  );
}

/** Distances between ticks of an axis of steps: there is no step 2.5. */
const WHOLE_STEPS = [...Array(10).keys()].flatMap(power => [1, 2, 5].map(digit => digit * 10 ** power));

/**
 * Labels of ticks, none like another: with more digits where three do not tell them apart, and where six do not, as
 * what is added to the first.
 */
export function tickLabels(splits: (number | null)[]): string[] {
  const values = splits.filter(value => value !== null);
  const write = (digits: number) => (value: number | null) => (value === null ? "" : tick(value, digits));
  for (const digits of [3, 4, 5, 6]) {
    if (new Set(values.map(write(digits))).size === values.length) return splits.map(write(digits));
  }
  const first = values[0] ?? 0;
  return splits.map(value =>
    value === null || value === first ? write(6)(value) : `+${formatNumber(value - first, 2)}`,
  );
}

function tick(value: number, digits: number): string {
  if (Math.abs(value) >= 1e4) return formatCount(value);
  // formatNumber writes at most four decimals.
  return digits > 3 && Math.abs(value) >= 1e-3
    ? String(Number(value.toPrecision(digits))).replace("-", "−")
    : formatNumber(value, digits);
}

/** Behind the lines: where batches hold groups of two revisions, because a change is still draining. */
function drawBands(plot: uPlot, marks: Mark[]): void {
  const { ctx, bbox } = plot;
  const end = plot.scales.x?.max ?? 0;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = `${cssColor("--c-control")}1f`;
  for (const { x, until } of marks) {
    const from = plot.valToPos(x, "x", true);
    const width = plot.valToPos(until ?? end, "x", true) - from;
    if (width > 0) ctx.fillRect(from, bbox.top, width, bbox.height);
  }
  ctx.restore();
}

/** Control lines over the whole height; red ticks at the foot where a value was not a number. */
function drawOver(plot: uPlot, drawn: Drawn): void {
  const { ctx, bbox } = plot;
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = ratio;
  ctx.strokeStyle = cssColor("--c-control");
  ctx.setLineDash([4 * ratio, 3 * ratio]);
  for (const mark of drawn.marks) vertical(plot, mark.x, bbox.top, bbox.height);
  ctx.setLineDash([]);
  ctx.lineWidth = 2 * ratio;
  ctx.strokeStyle = cssColor("--c-bad");
  for (const x of drawn.nan) vertical(plot, x, bbox.top + bbox.height - 8 * ratio, 8 * ratio);
  ctx.restore();
}

function vertical(plot: uPlot, value: number, top: number, height: number): void {
  const x = Math.round(plot.valToPos(value, "x", true)) + 0.5;
  plot.ctx.beginPath();
  plot.ctx.moveTo(x, top);
  plot.ctx.lineTo(x, top + height);
  plot.ctx.stroke();
}
