/** What an import of a dataset is doing, in words. */
import type { DatasetImport } from "@/api/model";
import { formatBytes } from "@/lib/format";

export function isOpen({ state }: Pick<DatasetImport, "state">): boolean {
  return state === "queued" || state === "downloading" || state === "verifying" || state === "reading";
}

/** Imports that a page shows: those on their way, and those that need somebody. */
export function shown(rows: DatasetImport[]): DatasetImport[] {
  return rows.filter(row => isOpen(row) || row.state === "waiting" || row.state === "failed");
}

/** One line: what happens, and how far it has come. */
export function progressText(row: DatasetImport): string {
  if (row.state === "failed") return "Failed";
  if (row.state === "waiting") return "Waits for you";
  if (row.state === "queued") return row.error === "" ? "Waits for its turn" : "Waits for the network";
  if (row.bytes_total === 0) return "Looks at the files";
  const done = `${formatBytes(Math.min(row.bytes_done, row.bytes_total))} of ${formatBytes(row.bytes_total)}`;
  if (row.state === "reading") return `Reads and checks the rows: ${done}`;
  const files = `${row.files_done} of ${row.files_total} files`;
  return row.state === "verifying" ? `Compares checksums: ${done}, ${files}` : `Fetches: ${done}, ${files}`;
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
