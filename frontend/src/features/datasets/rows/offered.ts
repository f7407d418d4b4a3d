/** Conditions on columns that a filter offers. */
import type { RowValues } from "@/api/model";

/** Groups of `column=value`, one for each column. Values with a comma cannot be in the address, and are left out. */
export function offered(values: RowValues | undefined): { group: string; items: string[] }[] {
  return (values?.columns ?? []).flatMap(({ name, values: all }) => {
    const items = all.filter(one => !`${name}${one.value}`.includes(",")).map(one => `${name}=${one.value}`);
    return items.length > 0 ? [{ group: name, items }] : [];
  });
}

/** A value with how many rows have it. */
export const counted = (name: string, rows: number) => `${name} · ${rows.toLocaleString("en-GB")}`;
