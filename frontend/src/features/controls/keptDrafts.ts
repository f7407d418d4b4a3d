/** Drafts that outlive the page: one for each steerable field of a run, in this tab, until sent or discarded. */
import type { Draft } from "./conflict";
import { NOW, type Schedule } from "./schedule";

export interface KeptDraft {
  draft: Draft;
  reason: string;
  schedule: Schedule;
}

const place = (runId: string, knob: string) => `dressage.draft/${runId}/${knob}`;

export function keptDraft(runId: string, knob: string): KeptDraft | null {
  try {
    const found: unknown = JSON.parse(window.sessionStorage.getItem(place(runId, knob)) ?? "null");
    return isKept(found) ? { ...found, schedule: found.schedule ?? NOW } : null;
  } catch {
    return null; // a browser without storage, or a text of another release
  }
}

/** Keeps a draft; null forgets it. */
export function keepDraft(runId: string, knob: string, kept: KeptDraft | null): void {
  try {
    if (kept) window.sessionStorage.setItem(place(runId, knob), JSON.stringify(kept));
    else window.sessionStorage.removeItem(place(runId, knob));
  } catch {
    // A browser without storage, or a full one: the draft lives as long as the page.
  }
}

function isKept(found: unknown): found is KeptDraft {
  if (typeof found !== "object" || found === null) return false;
  const { draft, reason } = found as Partial<KeptDraft>;
  return typeof reason === "string" && typeof draft?.values === "object" && typeof draft.bases === "object";
}
