/** Axes of parallel coordinates: keys in which the runs of a sweep differ, then what came of them. */
import type { Json } from "@/api/model";
import { formatNumber, formatValue } from "@/lib/format";
import type { ChangedKey } from "@/features/runs/overlay/changed";

export interface Axis {
  id: string;
  title: string;
  /** Place of each run from 0 (bottom) to 1 (top); null if it has none. */
  places: (number | null)[];
  /** Labels with their places. */
  ticks: { at: number; label: string }[];
}

/** Values of which the largest is this many times the smallest are laid out by their logarithm. */
const LOG_FROM = 20;
const MOST_WORDS = 12;

/** Axes of the keys whose values are numbers or a few words. Others, such as lists of sources, have none. */
export function keyAxes(keys: ChangedKey[]): Axis[] {
  return keys.flatMap(({ path, values }) => {
    const title = path.join(".");
    const known = values.filter(value => value !== undefined && value !== null);
    if (known.every(value => typeof value === "number")) return [numberAxis(title, values as (number | null)[])];
    const isWords = known.every(value => ["string", "boolean", "number"].includes(typeof value));
    return isWords && new Set(known).size <= MOST_WORDS ? [wordAxis(title, values)] : [];
  });
}

export function numberAxis(title: string, values: (number | null | undefined)[]): Axis {
  const known = values.filter(value => typeof value === "number" && Number.isFinite(value)) as number[];
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const scale = least > 0 && most >= LOG_FROM * least ? Math.log : (value: number) => value;
  const place = (value: number) =>
    most === least ? 0.5 : (scale(value) - scale(least)) / (scale(most) - scale(least));
  const isKnown = (value: number | null | undefined): value is number =>
    typeof value === "number" && Number.isFinite(value);
  const ends = known.length === 0 ? [] : [...new Set([least, most])];
  return {
    id: title,
    title,
    places: values.map(value => (isKnown(value) ? place(value) : null)),
    ticks: ends.map(value => ({ at: place(value), label: formatNumber(value, 3) })),
  };
}

function wordAxis(title: string, values: (Json | undefined)[]): Axis {
  const words = [...new Set(values.map(value => (value === undefined ? "absent" : formatValue(value))))].sort();
  const place = (word: string) => (words.length === 1 ? 0.5 : words.indexOf(word) / (words.length - 1));
  return {
    id: title,
    title,
    places: values.map(value => place(value === undefined ? "absent" : formatValue(value))),
    ticks: words.map(word => ({ at: place(word), label: word })),
  };
}
