/** What is being written of a report. It outlives a reload and a visit to another page, until it is saved or discarded. */
import { useState } from "react";
import type { Report } from "@/api/model";
import { type ReportText, textOf } from "@/entities/reports/blocks";
import { sameText } from "@/entities/reports/same";

interface Kept {
  text: ReportText;
  /** The revision that it was started over; it goes out as `If-Match`. */
  revision: number;
}

export interface ReportDraft extends Kept {
  isChanged: boolean;
  set: (next: Partial<ReportText>) => void;
  /** Goes on from a revision: after saving `sent`, or after having seen what it says. */
  rebase: (revision: number, sent?: ReportText) => void;
  discard: () => void;
}

const place = (id: string) => `dressage:draft:report/${id}`;

export function useReportDraft(report: Report): ReportDraft {
  const [kept, setKept] = useState<Kept | null>(() => stored(report.id));
  const current = textOf(report);
  const text = kept?.text ?? current;
  const put = (next: Kept | null) => {
    setKept(next);
    keep(report.id, next);
  };
  return {
    text,
    revision: kept?.revision ?? report.revision,
    isChanged: kept !== null && !sameText(kept.text, current),
    set: part => {
      const [next, revision] = [{ ...text, ...part }, kept?.revision ?? report.revision];
      // What was taken back is no draft, over which others could save. Blanks at the ends of a title are typed on.
      const isBack = revision === report.revision && next.title === current.title && sameText(next, current);
      put(isBack ? null : { text: next, revision });
    },
    // What was typed while the answer was pending is not lost.
    rebase: (revision, sent) => put(sent && sameText(sent, text) ? null : { text, revision }),
    discard: () => put(null),
  };
}

/** Whether there is a draft of the report in this tab. */
export function hasReportDraft(report: Report): boolean {
  const kept = stored(report.id);
  return kept !== null && !sameText(kept.text, textOf(report));
}

/** What this tab keeps of a report, which may be gone in the meantime. */
export function draftedText(id: string): ReportText | null {
  return stored(id)?.text ?? null;
}

export function dropDraft(id: string): void {
  keep(id, null);
}

function stored(id: string): Kept | null {
  try {
    const found: unknown = JSON.parse(window.sessionStorage.getItem(place(id)) ?? "null");
    return isKept(found) ? found : null;
  } catch {
    return null; // storage may be switched off or hold another release's words: then there is no draft
  }
}

function isKept(found: unknown): found is Kept {
  const { text, revision } = (found ?? {}) as Partial<Kept>;
  return typeof revision === "number" && typeof text?.title === "string" && Array.isArray(text.blocks);
}

function keep(id: string, kept: Kept | null): void {
  try {
    if (kept) window.sessionStorage.setItem(place(id), JSON.stringify(kept));
    else window.sessionStorage.removeItem(place(id));
  } catch {
    return; // storage is full or switched off: the draft lives as long as the page
  }
}
