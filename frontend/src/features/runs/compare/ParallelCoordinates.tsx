/** A sweep at a glance: one line per run over the keys that differ and what came of them. */
import { Text, Title } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useState } from "react";
import type { Run } from "@/api/model";
import type { ChangedKey } from "@/features/runs/overlay/changed";
import classes from "./compare.module.css";
import { labels, runStyle } from "@/features/runs/overlay/overlay";
import { type Axis, keyAxes, numberAxis } from "./parallel";

const HEIGHT = 220;
const TOP = 30;
const SIDE = 80;
const LEAST_GAP = 150;
/** Of an axis' title: as many as fit between two axes. */
const MOST_LETTERS = 24;

interface Props {
  runs: Run[];
  keys: ChangedKey[];
  hidden: ReadonlySet<string>;
}

export function ParallelCoordinates({ runs, keys, hidden }: Props) {
  const { ref, width } = useElementSize<HTMLDivElement>();
  const [lit, setLit] = useState<string | null>(null);
  const axes = [
    ...keyAxes(keys),
    numberAxis(
      "reward",
      runs.map(run => run.summary.reward),
    ),
    numberAxis(
      "held-out",
      runs.map(run => run.summary.eval),
    ),
  ].filter(axis => axis.ticks.length > 0);
  if (runs.length < 3 || keyAxes(keys).length === 0 || axes.length < 2) return null;
  const whole = Math.max(width, 2 * SIDE + (axes.length - 1) * LEAST_GAP);
  const xOf = (place: number) => SIDE + (place * (whole - 2 * SIDE)) / (axes.length - 1);
  const named = labels(runs);
  return (
    <section aria-label="Sweep" style={{ marginBottom: 16 }} data-testid="sweep">
      <Title order={2}>Sweep</Title>
      <Text size="xs" c="dimmed" mb={6}>
        Each line is a run: the keys that differ, then its reward and its held-out result.
      </Text>
      <div
        ref={ref}
        className={classes.sweep}
        // Anyone who has no mouse scrolls it by keys.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label="Parallel coordinates"
      >
        <svg width={whole} height={HEIGHT} role="img" aria-label={`${runs.length} runs over ${axes.length} axes`}>
          {axes.map((axis, place) => (
            <line
              key={axis.id}
              x1={xOf(place)}
              x2={xOf(place)}
              y1={yOf(1)}
              y2={yOf(0)}
              stroke="var(--c-border-strong)"
            />
          ))}
          {runs.map((run, index) => {
            if (hidden.has(run.id)) return null;
            const { color, dash } = runStyle(index);
            const isFaint = lit !== null && lit !== run.id;
            return pieces(axes, index, xOf).map(points => (
              <polyline
                key={points}
                points={points}
                className={classes.course}
                stroke={`var(--c-s${color})`}
                strokeDasharray={dash?.join(" ")}
                strokeOpacity={isFaint ? 0.15 : 0.9}
                data-run={run.id}
                onPointerEnter={() => setLit(run.id)}
                onPointerLeave={() => setLit(null)}
              >
                <title>{named[index]}</title>
              </polyline>
            ));
          })}
          {axes.map((axis, place) => (
            <AxisWords key={axis.id} axis={axis} x={xOf(place)} />
          ))}
        </svg>
      </div>
    </section>
  );
}

const yOf = (place: number) => TOP + (1 - place) * (HEIGHT - TOP - 16);

function AxisWords({ axis, x }: { axis: Axis; x: number }) {
  // The end of a key tells the most.
  const title = axis.title.length > MOST_LETTERS ? `…${axis.title.slice(1 - MOST_LETTERS)}` : axis.title;
  return (
    <g>
      <text x={x} y={14} textAnchor="middle" className={classes.axisTitle}>
        {title}
        <title>{axis.title}</title>
      </text>
      {axis.ticks.map(({ at, label }) => (
        <text key={label} x={x + 5} y={yOf(at) + 4} className={classes.tick}>
          {label.length > 14 ? `${label.slice(0, 13)}…` : label}
          <title>{label}</title>
        </text>
      ))}
    </g>
  );
}

/** The course of a run, in pieces where an axis has no value of it. */
function pieces(axes: Axis[], run: number, xOf: (place: number) => number): string[] {
  const found: string[][] = [[]];
  axes.forEach((axis, place) => {
    const at = axis.places[run];
    if (at === null || at === undefined) found.push([]);
    else found.at(-1)?.push(`${xOf(place).toFixed(1)},${yOf(at).toFixed(1)}`);
  });
  return found.filter(points => points.length > 1).map(points => points.join(" "));
}
