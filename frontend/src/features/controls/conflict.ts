/** A draft and what others have changed since its first edit: pure functions, so that tests can drive them. */
import type { Control, Json, Target } from "@/api/model";
import { same } from "@/features/schema-form/pointer";
import { changes, type Drafts } from "./model";

export interface Draft {
  values: Drafts;
  /** What each field showed when it was first changed: a value that was put back is no change. */
  bases: Drafts;
  /** The revision that the person had seen at the first edit; null without a draft. It goes out as `If-Match`. */
  pinned: number | null;
  /** Changes by others that the platform reported when it rejected the request. */
  told: Control[];
}

export const NO_DRAFT: Draft = { values: {}, bases: {}, pinned: null, told: [] };

/** The newest revision among what is shown: each revision of a run is a control. */
export function seenRevision(controls: Control[]): number {
  return Math.max(0, ...controls.map(control => control.revision));
}

/** Whether a field holds something else than what it showed before. */
export function isTouched(draft: Draft, path: string): boolean {
  return path in draft.values && !same(draft.values[path], draft.bases[path]);
}

/** The draft with one more edit; `shown` is what the field showed before it, `seen` the revision shown. */
export function edited(draft: Draft, path: string, value: Json, shown: Json, seen: number): Draft {
  const known = Object.keys(draft.values).some(one => isTouched(draft, one)) ? draft : NO_DRAFT;
  const bases = isTouched(known, path) ? known.bases : { ...known.bases, [path]: shown };
  return { ...known, values: { ...known.values, [path]: value }, bases, pinned: known.pinned ?? seen };
}

/** What is to be sent. */
export function pendingChanges(draft: Draft, targets: Target[], controls: Control[]) {
  const touched = Object.entries(draft.values).filter(([path]) => isTouched(draft, path));
  return changes(Object.fromEntries(touched), targets, controls);
}

/** The draft without the fields that others have changed, and over what they have done. */
export function withoutTheirs(draft: Draft, others: Control[]): Draft {
  const theirs = new Set(others.map(control => control.target));
  const values = Object.fromEntries(Object.entries(draft.values).filter(([path]) => !theirs.has(path)));
  return Object.keys(values).length === 0 ? NO_DRAFT : repinned({ ...draft, values }, others);
}

/** The draft as one that was started after `others`: the person has been shown them. */
export function repinned(draft: Draft, others: Control[]): Draft {
  const revision = Math.max(draft.pinned ?? 0, seenRevision(others));
  return { ...draft, pinned: revision, told: [] };
}

/** Changes by this console. No other user's change is between `after` and `revision`. */
export interface OwnChange {
  after: number;
  revision: number;
}

/** `pinned`, moved over the console's own changes that follow it without a gap. */
export function advanced(pinned: number, own: OwnChange[]): number {
  return own.reduce((at, { after, revision }) => (after <= at && at < revision ? revision : at), pinned);
}

/** What others have changed since the draft was started, oldest first; from the stream or from a refusal. */
export function meanwhile(draft: Draft, controls: Control[], own: OwnChange[]): Control[] {
  if (draft.pinned === null) return [];
  const since = advanced(draft.pinned, own);
  const byId = new Map([...draft.told, ...controls].map(control => [control.id, control]));
  return [...byId.values()]
    .filter(({ revision }) => revision > since && !own.some(one => one.after < revision && revision <= one.revision))
    .sort((a, b) => a.revision - b.revision);
}

export interface ConflictRow {
  target: string;
  /** The newest change by others; null if they did not change the field. */
  theirs: Control | null;
  /** What the field was before them. */
  before: Json;
  /** Undefined if the draft does not change the field. */
  mine: Json | undefined;
}

/** Fields of the draft first, each next to what others made of it; then what else they changed. */
export function conflictRows(pending: { target: string; value: Json }[], others: Control[]): ConflictRow[] {
  const paths = new Set([...pending.map(one => one.target), ...others.map(one => one.target)]);
  return [...paths].map(target => {
    const found = others.filter(one => one.target === target);
    return {
      target,
      theirs: found.at(-1) ?? null,
      before: found[0]?.before ?? null,
      mine: pending.find(one => one.target === target)?.value,
    };
  });
}
