/** What an import is doing, in words and as a share. */
import type { PolicyImport } from "@/api/model";
import { formatBytes } from "@/lib/format";

export type Source = "hub" | "bucket" | "folder";

export function isOpen({ state }: Pick<PolicyImport, "state">): boolean {
  return state === "queued" || state === "downloading" || state === "verifying";
}

/** Imports that a page shows: those on their way, and those that need somebody. */
export function shown(rows: PolicyImport[]): PolicyImport[] {
  return rows.filter(row => isOpen(row) || row.state === "failed");
}

/** Share that is done, from 0 to 100; null while the size is not known. */
export function percent(row: Pick<PolicyImport, "bytes_done" | "bytes_total">): number | null {
  return row.bytes_total === 0 ? null : Math.min(100, (100 * row.bytes_done) / row.bytes_total);
}

/** One line: what happens, and how far it has come. */
export function progressText(row: PolicyImport): string {
  if (row.state === "failed") return "Failed";
  if (row.state === "queued") return row.error === "" ? "Waits for its turn" : "Waits for the network";
  if (row.bytes_total === 0) return "Looks at the files";
  const done = `${formatBytes(row.bytes_done)} of ${formatBytes(row.bytes_total)}`;
  const files = `${row.files_done} of ${row.files_total} files`;
  return row.state === "verifying" ? `Compares checksums: ${done}, ${files}` : `Fetches: ${done}, ${files}`;
}

/** The name that is suggested for what is at a place: its last part. */
export function nameOf(location: string): string {
  return (location.replace(/\/+$/, "").split("/").pop()?.replace(/^s3:$/, "") ?? "").slice(0, 120);
}

/** The revision that the address of a repository's page names; null where it names none. */
export function revisionIn(address: string): string | null {
  const named = /^https?:\/\/[^/]+\/[^/]+\/[^/]+\/(?:tree|blob|resolve)\/([^/?#]+)/.exec(address.trim())?.[1];
  if (named === undefined) return null;
  try {
    return decodeURIComponent(named);
  } catch {
    return named;
  }
}

/** A repository's address as people copy it, without what is not its name. */
export function repositoryName(text: string): string {
  const trimmed = text.trim();
  const path = /^https?:\/\/[^/]+\/(.+)$/.exec(trimmed)?.[1] ?? trimmed;
  return path
    .split(/[?#]/)[0]!
    .replace(/\/(tree|blob|resolve)\/.*$/, "")
    .replace(/\/+$/, "");
}
