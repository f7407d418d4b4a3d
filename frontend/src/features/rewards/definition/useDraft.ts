/** The definition being edited. It outlives a reload and a visit to another page, until it is saved or discarded. */
import { useState } from "react";
import type { Spec } from "@/api/model";
import { same } from "@/features/schema-form/pointer";

export interface Draft {
  definition: Spec;
  changed: boolean;
  set: (next: Spec) => void;
  discard: () => void;
}

const place = (key: string) => `dressage:draft:${key}`;

export function useDraft(key: string, base: Spec): Draft {
  const [definition, setDefinition] = useState<Spec>(() => stored(key) ?? base);
  const set = (next: Spec) => {
    setDefinition(next);
    keep(key, same(next, base) ? null : next);
  };
  return { definition, changed: !same(definition, base), set, discard: () => set(base) };
}

/** Whether a draft is kept under `key`. */
export function hasDraft(key: string): boolean {
  return stored(key) !== null;
}

/** Drops the kept draft, for when it has become a version. */
export function forgetDraft(key: string): void {
  keep(key, null);
}

function stored(key: string): Spec | null {
  try {
    const text = window.sessionStorage.getItem(place(key));
    return text === null ? null : (JSON.parse(text) as Spec);
  } catch {
    return null; // storage may be switched off or hold another release's words: then there is no draft
  }
}

function keep(key: string, definition: Spec | null): void {
  try {
    if (definition === null) window.sessionStorage.removeItem(place(key));
    else window.sessionStorage.setItem(place(key), JSON.stringify(definition));
  } catch {
    return; // storage is full or switched off: the draft lives as long as the page
  }
}
