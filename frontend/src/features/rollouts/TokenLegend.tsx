/** Scale of an overlay. */
import type { Painted } from "./overlays";
import classes from "./tokens.module.css";
import { cellColor } from "./TokenView";

export function TokenLegend({ title, painted }: { title: string; painted: Painted }) {
  return (
    <div className={classes.legend} data-testid="token-legend">
      <span>{title}</span>
      {painted.missing !== null && <span>{painted.missing}</span>}
      {painted.missing === null && painted.legend.length === 0 && <span>0 everywhere</span>}
      {painted.legend.map(({ shade, label }) => (
        <span key={label} className="num">
          <span className={classes.swatch} style={{ backgroundColor: cellColor(shade) }} />
          {label}
        </span>
      ))}
    </div>
  );
}
