/** Texts of an upload's progress. */
import { formatBytes, formatDuration } from "@/lib/format";
import type { Transfer } from "./useTransfer";

export function transferText({ phase, sent, total, rate }: Transfer): string {
  if (phase === "checking") return `${formatBytes(total)} sent. Checking each row.`;
  const come = `${formatBytes(sent)} of ${formatBytes(total)}`;
  if (phase === "paused") return `${come} · paused`;
  if (phase === "waiting") return `${come} · waiting for the platform; resumes automatically`;
  if (rate === null) return come;
  return `${come} · ${formatBytes(rate)}/s · ${formatDuration(Math.ceil((total - sent) / rate))} left`;
}
