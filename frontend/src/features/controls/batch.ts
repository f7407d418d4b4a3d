/** Texts of a step's forecast: pure functions over the preview of another group size or other filters. */
import type { BatchPreview, Json, Spec } from "@/api/model";
import { type FilterSpec, filtersOf, groupSizeOf, isFilter } from "@/entities/runs/batch";
import { same } from "@/features/schema-form/pointer";
import { formatCount, formatNumber, formatPercent } from "@/lib/format";

export interface BatchDraft {
  /** As it is typed. */
  size: Json;
  filters: FilterSpec[];
}

/** Filters that stored groups can answer for. */
export const FILTERS = [
  { type: "zero_advantage", title: "Groups with equal rewards" },
  { type: "truncated", title: "Completions truncated at max tokens" },
  { type: "overlong", title: "Completions longer than a limit" },
  { type: "repetition", title: "Completions that end in a loop" },
] as const;

export function draftOf(spec: Spec | undefined): BatchDraft {
  return { size: groupSizeOf(spec), filters: filtersOf(spec) };
}

/** The draft stored in this tab as text; null if there is none. */
export function keptDraftOf(text: string | undefined): BatchDraft | null {
  try {
    const found = JSON.parse(text ?? "null") as Partial<BatchDraft> | null;
    return Array.isArray(found?.filters) && found.filters.every(isFilter)
      ? { size: found.size ?? null, filters: found.filters }
      : null;
  } catch {
    return null; // a text of another release
  }
}

/** The changes of a draft to a spec, as the preview request takes them. */
export function batchChanges(spec: Spec | undefined, draft: BatchDraft) {
  const now = draftOf(spec);
  return [
    ...(same(now.size, draft.size) ? [] : [{ target: "rollout.group_size" as const, value: draft.size }]),
    ...(same(now.filters, draft.filters) ? [] : [{ target: "filters" as const, value: draft.filters as Json }]),
  ];
}

/**
 * The filters with one switched. One that is switched on again is as the run has it; a new one comes last.
 *
 * @param limit tokens that a new limit of length starts with
 */
export function switched(filters: FilterSpec[], own: FilterSpec[], type: string, limit: number): FilterSpec[] {
  if (filters.some(one => one.type === type)) return filters.filter(one => one.type !== type);
  const known = own.filter(one => one.type === type);
  if (known.length > 0) {
    const order = own.map(one => one.type);
    const place = (one: FilterSpec) => (order.includes(one.type) ? order.indexOf(one.type) : order.length);
    return [...filters, ...known].sort((a, b) => place(a) - place(b));
  }
  return [...filters, type === "overlong" ? { type, max_tokens: limit } : { type }];
}

/** The filters with another longest completion. */
export function withLimit(filters: FilterSpec[], limit: Json): FilterSpec[] {
  return filters.map(one => (one.type === "overlong" ? { ...one, max_tokens: limit } : one));
}

type Estimate = NonNullable<BatchPreview["now"]["dead_share"]>;
type Side = BatchPreview["now"];

export interface Figure {
  key: string;
  title: string;
  /** One value where the draft changes nothing that is seen. */
  text: string;
  /** Interval of the drafted value; null if it is known exactly, or too little is known. */
  range: string | null;
}

const share = (value: number) => formatPercent(value, 1);
const groups = (value: number) => formatNumber(value, 3);
const count = (value: number) => formatCount(Math.round(value));

const ROWS: [string, string, (side: Side) => Estimate | null | undefined, (value: number) => string][] = [
  ["dead", "Groups with zero variance", side => side.dead_share, share],
  ["live", "Groups with signal per batch", side => side.live_groups, groups],
  ["refills", "Resampled groups", side => side.refills, groups],
  ["samples", "Samples per step", side => side.samples, count],
  ["tokens", "Tokens per step", side => side.tokens, count],
  ["dropped_groups", "Groups excluded by filters", side => side.dropped?.groups, share],
  ["dropped_samples", "Samples excluded by filters", side => side.dropped?.samples, share],
  ["dropped_tokens", "Tokens excluded by filters", side => side.dropped?.tokens, share],
];

/** The forecast, one row per figure. Figures unknown for both sides are left out. */
export function figures({ now, draft }: BatchPreview): Figure[] {
  return ROWS.flatMap(([key, title, of, format]) => {
    const [before, after] = [of(now), of(draft)];
    if (!before && !after) return [];
    const texts = [before, after].map(one => (one ? format(one.value) : "–"));
    return [{ key, title, text: [...new Set(texts)].join(" → "), range: rangeOf(after, format) }];
  });
}

function rangeOf(estimate: Estimate | null | undefined, format: (value: number) => string): string | null {
  if (!estimate || estimate.low === null || estimate.high === null) return null;
  const ends = [format(estimate.low), format(estimate.high)];
  return ends[0] === ends[1] ? null : ends.join(" to ");
}

/** The basis of the forecast, in one or two sentences. */
export function basisText({ outcomes, stored }: BatchPreview): string {
  const steps = (one: { first_step: number; last_step: number }) =>
    one.first_step === one.last_step ? `step ${one.last_step}` : `steps ${one.first_step} to ${one.last_step}`;
  const many = (number: number) => `${formatNumber(number)} ${number === 1 ? "group" : "groups"}`;
  return [
    outcomes && `Groups: outcomes of ${many(outcomes.groups)} in ${steps(outcomes)}.`,
    stored && `Filters and tokens: ${many(stored.groups)} stored from ${steps(stored)}.`,
  ]
    .filter(one => one !== null)
    .join(" ");
}
