/** Texts of a dataset import's progress. */
import type { DatasetImport } from "@/api/model";
import { movedText } from "@/ui/transfer-text";

export function isOpen({ state }: Pick<DatasetImport, "state">): boolean {
  return state === "queued" || state === "downloading" || state === "verifying" || state === "reading";
}

/** Imports that a page shows: those in progress, and those that need a user. */
export function shown(rows: DatasetImport[]): DatasetImport[] {
  return rows.filter(row => isOpen(row) || row.state === "waiting" || row.state === "failed");
}

const VERBS: Record<string, string> = { verifying: "Comparing checksums", reading: "Reading and checking rows" };

/** One line about the progress. */
export function progressText(row: DatasetImport): string {
  if (row.state === "failed") return "Failed";
  if (row.state === "waiting") return "Waiting for review";
  return movedText(row, VERBS[row.state] ?? "Fetching");
}

/** Where it comes from, short: the place, the commit, and what was chosen. */
export function placeText(row: Pick<DatasetImport, "location" | "commit" | "revision" | "config" | "split">): string {
  const revision = row.commit.slice(0, 8) || row.revision;
  const chosen = [row.config, row.split].filter(part => part !== "").join(" / ");
  return `${row.location}${revision && ` @ ${revision}`}${chosen && `: ${chosen}`}`;
}

/** A name that is suggested for what is at a place: its last part without the ends of a file's name. */
export function suggestedName(location: string): string {
  const last = location.split(/[?#]/)[0]!.replace(/\/+$/, "").split("/").pop() ?? "";
  return (last.replace(/(?:\.[A-Za-z]{1,8}){1,2}$/, "") || last).slice(0, 120);
}
