/** The progress of an import, as text and as a share. */
import type { PolicyImport } from "@/api/model";
import { movedText } from "@/ui/transfer-text";

export type Source = "hub" | "bucket" | "folder";

export function isOpen({ state }: Pick<PolicyImport, "state">): boolean {
  return state === "queued" || state === "downloading" || state === "verifying";
}

/** Imports that a page shows: those in progress, and those that need a user. */
export function shown(rows: PolicyImport[]): PolicyImport[] {
  return rows.filter(row => isOpen(row) || row.state === "failed");
}

/** One line about the progress. */
export function progressText(row: PolicyImport): string {
  if (row.state === "failed") return "Failed";
  return movedText(row, row.state === "verifying" ? "Comparing checksums" : "Fetching");
}

/** The name that is suggested for what is at a place: its last part. */
export function nameOf(location: string): string {
  return (location.replace(/\/+$/, "").split("/").pop()?.replace(/^s3:$/, "") ?? "").slice(0, 120);
}

/** The revision that the address of a repository's page names; null if it names none. */
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
