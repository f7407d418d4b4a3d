/** Names and values under the title of a chart: at the crosshair, else the latest; a dash if there is none. */
import { UnstyledButton } from "@mantine/core";
import { formatNumber } from "@/lib/format";
import classes from "./charts.module.css";
import type { LineStyle } from "./options";

export function LineSwatch({ line }: { line: LineStyle }) {
  return (
    <svg width="18" height="8" aria-hidden="true" className={classes.swatch}>
      <line
        x1="0"
        y1="4"
        x2="18"
        y2="4"
        stroke={`var(--c-s${line.color % 6})`}
        strokeWidth="2.5"
        strokeDasharray={line.dash?.join(" ")}
      />
      {line.rare && <circle cx="9" cy="4" r="3" fill={`var(--c-s${line.color % 6})`} />}
    </svg>
  );
}

interface Props {
  lines: LineStyle[];
  values: (number | null)[];
  /** x of the crosshair; null without one. */
  at: string | null;
  hidden: ReadonlySet<string>;
  onHide: (key: string) => void;
}

export function ChartLegend({ lines, values, at, hidden, onHide }: Props) {
  return (
    <div className={classes.legend}>
      {lines.map((line, index) => (
        <UnstyledButton
          key={line.key}
          className={classes.entry}
          aria-pressed={!hidden.has(line.key)}
          title={`${hidden.has(line.key) ? "Show" : "Hide"} ${line.key}`}
          onClick={() => onHide(line.key)}
        >
          <LineSwatch line={line} />
          <span className={classes.name}>{line.label}</span>
          <span className="num">{hidden.has(line.key) ? "hidden" : formatNumber(values[index])}</span>
        </UnstyledButton>
      ))}
      <span className={`${classes.at} num`}>{at !== null && `@ ${at}`}</span>
    </div>
  );
}
