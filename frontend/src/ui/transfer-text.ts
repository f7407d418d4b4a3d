/** The progress of transfers, as a share and as text. */
import { formatBytes } from "@/lib/format";

interface Moved {
  state: string;
  error: string;
  files_done: number;
  files_total: number;
  bytes_done: number;
  bytes_total: number;
}

/** Share that is done, from 0 to 100; null while the size is not known. */
export function percent(row: Pick<Moved, "bytes_done" | "bytes_total">): number | null {
  return row.bytes_total === 0 ? null : Math.min(100, (100 * row.bytes_done) / row.bytes_total);
}

/** One line: what happens, such as "Fetches", and the progress. */
export function movedText(row: Moved, verb: string): string {
  if (row.state === "queued") return row.error === "" ? "Queued" : "Waiting for the network";
  if (row.bytes_total === 0) return "Listing files";
  const done = `${formatBytes(Math.min(row.bytes_done, row.bytes_total))} of ${formatBytes(row.bytes_total)}`;
  return `${verb}: ${done}, ${row.files_done} of ${row.files_total} files`;
}
