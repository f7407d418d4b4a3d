/** Group size and filters of a run, and the draft of them that an address carries to the form of a fork. */
import type { Json, Spec } from "@/api/model";
import { getIn, setIn } from "@/features/schema-form/pointer";
import { number } from "@/lib/search";

export type FilterSpec = { type: string } & { [name: string]: Json };

export interface BatchSearch {
  group_size?: number;
  filters?: FilterSpec[];
}

/** Reads them from an address. Invalid parts are dropped. */
export function batchSearch(search: Record<string, unknown>): BatchSearch {
  const { filters } = search;
  return {
    group_size: number(search.group_size),
    filters: Array.isArray(filters) && filters.every(isFilter) ? filters : undefined,
  };
}

export function groupSizeOf(spec: Spec | undefined): Json {
  return getIn(spec, ["rollout", "group_size"]) ?? null;
}

export function filtersOf(spec: Spec | undefined): FilterSpec[] {
  const found = getIn(spec, ["filters"]);
  return Array.isArray(found) ? found.filter(isFilter) : [];
}

/** The spec with the values of an address. */
export function withBatch(spec: Json, { group_size, filters }: BatchSearch): Json {
  const sized = group_size === undefined ? spec : setIn(spec, ["rollout", "group_size"], group_size);
  return filters === undefined ? sized : setIn(sized, ["filters"], filters);
}

export function isFilter(value: unknown): value is FilterSpec {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
