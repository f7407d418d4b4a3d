/** The range that a schema gives a number: in words, and whether a value lies within. */
import type { JsonSchema } from "@/api/model";
import { formatValue } from "@/lib/format";

/** Such as "above 0", "0 to 1" or "above 0 and at most 1"; empty without bounds. */
export function boundsText({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return `${formatValue(minimum)} to ${formatValue(maximum)}`;
  const low = text("at least", minimum) ?? text("above", exclusiveMinimum);
  const high = text("at most", maximum) ?? text("below", exclusiveMaximum);
  return [low, high].filter(Boolean).join(" and ");
}

export function isWithin(value: number, { minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): boolean {
  return (
    value >= (minimum ?? -Infinity) &&
    value <= (maximum ?? Infinity) &&
    value > (exclusiveMinimum ?? -Infinity) &&
    value < (exclusiveMaximum ?? Infinity)
  );
}

const text = (words: string, bound: number | undefined) =>
  bound === undefined ? undefined : `${words} ${formatValue(bound)}`;
