/** Words of the lab's cards: costs, progress and findings as sentences. */
import type { LabCost, LabJob } from "@/api/model";
import { formatBytes, formatDuration, formatPercent } from "@/lib/format";

export const isOpen = (job: LabJob) => job.state === "queued" || job.state === "running";

const count = (value: number) => value.toLocaleString("en-GB");

export function costText(cost: LabCost): string {
  const speed = cost.measured ? "by what earlier jobs took here" : "by a measurement on two cores";
  return (
    `Reads ${count(cost.rows)} ${cost.rows === 1 ? "row" : "rows"} (${formatBytes(cost.bytes)}), takes about ` +
    `${formatDuration(Math.ceil(cost.seconds))} ${speed}, and up to ${formatBytes(cost.memory_bytes)} of memory.`
  );
}

/** How far a job has come, from 0 to 100; null where that is not known. */
export function percent({ steps_done, steps_total }: Pick<LabJob, "steps_done" | "steps_total">): number | null {
  return steps_total > 0 ? Math.min(100, (steps_done / steps_total) * 100) : null;
}

export function progressText(job: LabJob): string {
  if (job.state === "queued") return "Waits for its turn.";
  const share = percent(job);
  const stage = job.stage || "Starting";
  return share === null
    ? `${stage}…`
    : `${stage}: ${count(job.steps_done)} of ${count(job.steps_total)} (${formatPercent(share / 100)})`;
}
