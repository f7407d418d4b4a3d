/** What a chart is: its words, and the lines that it draws of the metrics that a run reports. */
import type { LineStyle } from "./options";

export interface ChartSpec {
  id: string;
  title: string;
  hint: string;
  unit?: string;
  log?: boolean;
  /** Ends of the axis; null: as the values ask. */
  range?: [number | null, number | null];
  /** Heading of the chart's group. */
  group?: string;
  lines: (names: string[]) => LineStyle[];
}

export const DASHES: (number[] | undefined)[] = [undefined, [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4]];

/** Fixed lines. The chart omits lines that the run does not report. */
export function lines(...styles: Omit<LineStyle, "dash">[]) {
  return (): LineStyle[] => styles.map((style, index) => ({ dash: DASHES[index % DASHES.length], ...style }));
}

interface PerSource extends Pick<LineStyle, "rare" | "axis"> {
  /** Place of the first line's colour and dashes. */
  from?: number;
  label?: (source: string) => string;
}

/** One line per source in names such as `train/pass_rate/add_sub`. */
export function perSource(names: string[], pattern: RegExp, options: PerSource = {}): LineStyle[] {
  const { from = 0, label = source => source, ...style } = options;
  return names
    .flatMap(name => {
      const source = pattern.exec(name)?.[1];
      return source ? [{ key: name, source }] : [];
    })
    .map(({ key, source }, index) => ({
      key,
      label: label(source),
      color: index + from,
      dash: DASHES[(index + from) % DASHES.length],
      ...style,
    }));
}
