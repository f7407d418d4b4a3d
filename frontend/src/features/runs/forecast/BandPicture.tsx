/** How much a token weighs in the loss against its importance ratio, for both signs of the advantage. */
import type { Band } from "@/api/model";
import { formatNumber } from "@/lib/format";
import classes from "./explain.module.css";

const WIDTH = 260;
const HEIGHT = 92;
const BOTTOM = 16;
const INSET = 3;

export function BandPicture({ band }: { band: Band }) {
  const low = band.ratios[0] ?? 0;
  const high = band.ratios.at(-1) ?? 1;
  const top = Math.max(...band.positive, ...band.negative, 1e-9);
  const x = (ratio: number) => INSET + ((ratio - low) / (high - low || 1)) * (WIDTH - 2 * INSET);
  const y = (weight: number) => HEIGHT - BOTTOM - (weight / top) * (HEIGHT - BOTTOM - 2 * INSET);
  const line = (weights: number[]) =>
    band.ratios.map((ratio, index) => `${x(ratio).toFixed(1)},${y(weights[index] ?? 0).toFixed(1)}`).join(" ");
  const edges = [band.ratio_min, band.ratio_max].filter(
    (edge): edge is number => edge !== null && edge >= low && edge <= high,
  );
  return (
    <figure className={classes.figure}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className={classes.picture}
        role="img"
        aria-label={`Weight in the loss against the ratio ${band.ratio}: ${describe(band)}`}
      >
        <line x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} className={classes.axis} />
        {low <= 1 && high >= 1 && <line x1={x(1)} x2={x(1)} y1={0} y2={y(0)} className={classes.axis} />}
        {edges.map(edge => (
          <g key={edge}>
            <line x1={x(edge)} x2={x(edge)} y1={0} y2={y(0)} className={classes.edge} />
            <text x={x(edge)} y={HEIGHT - 4} className={classes.tick}>
              {formatNumber(edge)}
            </text>
          </g>
        ))}
        <polyline points={line(band.positive)} className={classes.positive} />
        <polyline points={line(band.negative)} className={classes.negative} />
      </svg>
      <figcaption className={classes.caption}>
        <span className={classes.positiveKey}>A &gt; 0</span>
        <span className={classes.negativeKey}>A &lt; 0</span>
        <span>{band.ratio}</span>
      </figcaption>
    </figure>
  );
}

function describe({ ratio_min, ratio_max }: Band): string {
  if (ratio_min === null && ratio_max === null) return "no bounds";
  return `from ${ratio_min === null ? "0" : formatNumber(ratio_min)} to ${ratio_max === null ? "infinity" : formatNumber(ratio_max)}`;
}
