/** Pass rates of the prompts, with the band's edges as handles. */
import { useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import type { CurriculumPreview } from "@/api/model";
import { formatPercent } from "@/lib/format";
import {
  type Band,
  batchLine,
  BINS,
  type Edge,
  keyed,
  moved,
  prompts,
  rateAt,
  shadeOf,
  type Sources,
  stacked,
  untried,
} from "./band";
import classes from "./band.module.css";

const HEIGHT = 100;
const NAMES: Record<Edge, string> = { low: "Minimum pass rate", high: "Maximum pass rate" };

interface Props {
  sources: Sources;
  /** The next batch as drafted, once it is known. */
  batch: CurriculumPreview["draft"] | undefined;
  band: Band | null;
  target: number | null;
  disabled: boolean;
  onChange: (band: Band) => void;
}

export function BandHistogram({ sources, batch, band, target, disabled, onChange }: Props) {
  const plot = useRef<HTMLDivElement>(null);
  const never = untried(sources);
  const all = prompts(sources);
  const line = batch && batchLine(batch);
  return (
    <div className={classes.frame}>
      <div ref={plot} className={classes.plot}>
        <svg
          viewBox={`0 0 ${BINS} ${HEIGHT}`}
          preserveAspectRatio="none"
          className={classes.bars}
          role="img"
          aria-label={`Pass rates of ${all - never} prompts from 0 to 1; ${never} were never sampled`}
        >
          {band && (
            <rect className={classes.band} x={band.low * BINS} width={(band.high - band.low) * BINS} height={HEIGHT} />
          )}
          {stacked(sources).map(({ bin, source, from, to }) => (
            <rect
              key={`${bin}/${source}`}
              x={bin + 0.06}
              width={0.88}
              y={HEIGHT - to * (HEIGHT - 10)}
              height={(to - from) * (HEIGHT - 10)}
              fill={`var(--c-s${source % 6})`}
              opacity={band ? 0.25 + 0.65 * shadeOf(bin, band) : 0.8}
            />
          ))}
          {line && (
            <path
              className={classes.line}
              d={outline(line)}
              vectorEffect="non-scaling-stroke"
              data-testid="batch-line"
            />
          )}
          {target !== null && (
            <line
              className={classes.target}
              x1={target * BINS}
              x2={target * BINS}
              y1={0}
              y2={HEIGHT}
              vectorEffect="non-scaling-stroke"
            />
          )}
        </svg>
        {band &&
          (["low", "high"] as const).map(edge => (
            <Handle key={edge} edge={edge} band={band} plot={plot} disabled={disabled} onChange={onChange} />
          ))}
      </div>
      <div className={classes.never} title={`${never} prompts were never sampled`}>
        <div style={{ height: `${all > 0 ? (100 * never) / all : 0}%` }} />
      </div>
      <div className={classes.axis} aria-hidden="true">
        <span>0 hard</span>
        <span>pass rate</span>
        <span>easy 1</span>
      </div>
      <span className={classes.new} aria-hidden="true">
        new
      </span>
    </div>
  );
}

function outline(heights: number[]): string {
  const y = (height: number) => (HEIGHT - height * (HEIGHT - 10)).toFixed(2);
  return heights.map((height, bin) => `${bin === 0 ? "M" : "L"}${bin} ${y(height)}H${bin + 1}`).join("");
}

interface HandleProps {
  edge: Edge;
  band: Band;
  plot: { current: HTMLDivElement | null };
  disabled: boolean;
  onChange: (band: Band) => void;
}

function Handle({ edge, band, plot, disabled, onChange }: HandleProps) {
  const [held, setHeld] = useState(false);
  const value = band[edge];
  const follow = (event: PointerEvent) => {
    const box = plot.current?.getBoundingClientRect();
    if (held && box) onChange(moved(band, edge, rateAt(event.clientX, box)));
  };
  const press = (event: PointerEvent<HTMLDivElement>) => {
    if (disabled || event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setHeld(true);
  };
  const key = (event: KeyboardEvent) => {
    const next = keyed(band, edge, event.key);
    if (disabled || next === null || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (next[edge] !== value) onChange(next);
  };
  return (
    <div
      role="slider"
      tabIndex={disabled ? -1 : 0}
      className={classes.handle}
      // Where both edges lie at one end, the one that can move away from it must be on top.
      style={{ left: `${value * 100}%`, zIndex: (edge === "low") === value > 0.5 ? 2 : 1 }}
      aria-label={NAMES[edge]}
      aria-orientation="horizontal"
      aria-valuemin={edge === "low" ? 0 : band.low}
      aria-valuemax={edge === "low" ? band.high : 1}
      aria-valuenow={value}
      aria-valuetext={formatPercent(value)}
      aria-disabled={disabled}
      data-held={held || undefined}
      data-testid={`band-${edge}`}
      onPointerDown={press}
      onPointerMove={follow}
      onPointerUp={() => setHeld(false)}
      onPointerCancel={() => setHeld(false)}
      onLostPointerCapture={() => setHeld(false)}
      onKeyDown={key}
    />
  );
}
