/** Rubric items as the editor handles them: pure functions over plain lists. */
import type { Json } from "@/api/model";
import { isObject } from "@/features/schema-form/schema";

/** A type and no interface: only those are JSON to TypeScript. */
export type RubricItem = {
  name: string;
  description: string;
  /** Negative weights mark pitfalls: what the answer must not do. */
  weight: Json;
};

export function itemsOf(value: Json | undefined): RubricItem[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map(one => ({
    name: String(one.name ?? ""),
    description: String(one.description ?? ""),
    weight: one.weight ?? null,
  }));
}

export const isPitfall = (item: RubricItem): boolean => typeof item.weight === "number" && item.weight < 0;

/** Sum of the positive weights: what a perfect answer reaches, and what the grade is divided by. */
export function positiveTotal(items: RubricItem[]): number {
  return items.reduce(
    (sum, { weight }) => (typeof weight === "number" && Number.isFinite(weight) && weight > 0 ? sum + weight : sum),
    0,
  );
}

/** The item's part of the grade; null if it has none. */
export function shareOf(item: RubricItem, items: RubricItem[]): number | null {
  const total = positiveTotal(items);
  return typeof item.weight === "number" && total > 0 ? item.weight / total : null;
}

/** A copy with the member at `from` at place `to`. Places outside of the list change nothing. */
export function move<T>(list: T[], from: number, to: number): T[] {
  if (from === to || from < 0 || to < 0 || from >= list.length || to >= list.length) return list;
  const next = [...list];
  const [taken] = next.splice(from, 1);
  next.splice(to, 0, taken as T);
  return next;
}

/** A copy with the item at `index` twice; the second bears a free name. */
export function duplicate(items: RubricItem[], index: number): RubricItem[] {
  const item = items[index];
  if (!item) return items;
  const name = freeName(item.name, items);
  return [...items.slice(0, index + 1), { ...item, name }, ...items.slice(index + 1)];
}

/** `cites_source` → `cites_source_2`, the first number that no item bears yet. */
export function freeName(name: string, items: RubricItem[]): string {
  const taken = new Set(items.map(item => item.name));
  if (name && !taken.has(name)) return name;
  const stem = name.replace(/_\d+$/, "") || "item";
  for (let number = 2; ; number += 1) {
    const candidate = `${stem}_${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/** A new item, a pitfall where `weight` is negative. */
export function newItem(items: RubricItem[], weight: number): RubricItem {
  const stem = weight < 0 ? "pitfall" : "item";
  const name = `${stem}_${items.length + 1}`;
  return { name: freeName(name, items), description: "", weight };
}

/** What is wrong with an item before the platform sees it, by field. */
export function faultsOf(
  item: RubricItem,
  index: number,
  items: RubricItem[],
): Partial<Record<keyof RubricItem, string>> {
  const faults: Partial<Record<keyof RubricItem, string>> = {};
  if (!item.name.trim()) faults.name = "Enter a name.";
  else if (items.some((other, at) => at !== index && other.name === item.name))
    faults.name = "This name is used twice.";
  if (!item.description.trim()) faults.description = "Describe what the judge should look for.";
  if (typeof item.weight !== "number") faults.weight = "Enter a number.";
  else if (item.weight === 0) faults.weight = "Must not be 0.";
  return faults;
}
