import type { ControlEffect, MetricEffect } from "@/api/model";
import { formatNumber } from "@/lib/format";
import classes from "./effects.module.css";
import { picture } from "./verdict";

const WIDTH = 120;
const HEIGHT = 34;

/** A metric before and after a change. The band is where its mean would lie without the change. */
export function EffectPlot({ one, effect }: { one: MetricEffect; effect: ControlEffect }) {
  const drawn = picture(one, effect);
  if (!drawn) return <span className={classes.plot} />;
  const x = (share: number) => 2 + share * (WIDTH - 4);
  const y = (share: number) => HEIGHT - 3 - share * (HEIGHT - 6);
  const line = (points: [number, number][]) =>
    points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
  const { noise, drain } = drawn;
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className={classes.plot}
      role="img"
      aria-label={`${one.title}: mean ${formatNumber(one.before)} before, ${formatNumber(one.after)} after`}
    >
      {drain && (
        <rect x={x(drain[0])} width={x(drain[1]) - x(drain[0])} y={0} height={HEIGHT} className={classes.drain} />
      )}
      {noise && (
        <rect
          x={x(noise.from)}
          width={Math.max(1, x(noise.to) - x(noise.from))}
          y={y(noise.high)}
          height={Math.max(1, y(noise.low) - y(noise.high))}
          className={classes.noise}
        />
      )}
      <polyline points={line(drawn.before)} className={classes.values} />
      <polyline points={line(drawn.after)} className={classes.values} />
      {drawn.levels.map(({ from, to, at }) => (
        <line key={from} x1={x(from)} x2={x(to)} y1={y(at)} y2={y(at)} className={classes.level} />
      ))}
    </svg>
  );
}
