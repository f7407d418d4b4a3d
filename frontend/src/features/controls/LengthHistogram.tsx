import classes from "./controls.module.css";

const BINS = 32;
const WIDTH = 300;
const HEIGHT = 64;

/** Bars of thinking lengths from 0 to `top`; those above the budget are marked. */
export function LengthHistogram({ lengths, budget, top }: { lengths: number[]; budget: number | null; top: number }) {
  const size = (top + 1) / BINS;
  const counts = new Array<number>(BINS).fill(0);
  for (const length of lengths) {
    const bin = Math.min(BINS - 1, Math.floor(length / size));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const highest = Math.max(1, ...counts);
  const at = budget === null ? null : ((budget + 1) / (top + 1)) * WIDTH;
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={classes.histogram}
      role="img"
      aria-label={`Thinking lengths of the last ${lengths.length} rollouts, 0 to ${top} tokens`}
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--c-border-strong)" />
      {counts.map((count, index) => {
        const height = (count / highest) * (HEIGHT - 8);
        const over = budget !== null && index * size > budget;
        return (
          <rect
            key={index}
            x={(index * WIDTH) / BINS + 0.5}
            width={WIDTH / BINS - 1}
            y={HEIGHT - height}
            height={height}
            fill={over ? "var(--c-control)" : "var(--c-s0)"}
            opacity={over ? 0.85 : 0.65}
          />
        );
      })}
      {at !== null && (
        <line x1={at} x2={at} y1="0" y2={HEIGHT} stroke="var(--c-control)" strokeWidth="2" strokeDasharray="4 3" />
      )}
    </svg>
  );
}
