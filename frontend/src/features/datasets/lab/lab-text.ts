/** Texts of the lab's cards: costs, progress and findings. */
import type { AskedReport, LabCost, LabJob, ReviewerAgreement } from "@/api/model";
import { formatBytes, formatDuration, formatNumber, formatPercent } from "@/lib/format";

/** Whether a worker has it, or will. */
export const isAtWork = (job: LabJob) => job.state === "queued" || job.state === "running";

/** Whether it is not over: no other of its kind can be started. */
export const isOpen = (job: LabJob) => isAtWork(job) || job.state === "waiting";

const count = (value: number) => value.toLocaleString("en-GB");

export function costText(cost: LabCost): string {
  if (cost.asking) return askingText(cost, cost.asking);
  const speed = cost.measured ? "based on earlier jobs" : "measured on two cores";
  return (
    `Reads ${count(cost.rows)} ${cost.rows === 1 ? "row" : "rows"} (${formatBytes(cost.bytes)}), takes about ` +
    `${formatDuration(Math.ceil(cost.seconds))}, ${speed}, and up to ${formatBytes(cost.memory_bytes)} of memory.`
  );
}

/** How far a job has come, from 0 to 100; null if that is not known. */
export function percent({ steps_done, steps_total }: Pick<LabJob, "steps_done" | "steps_total">): number | null {
  return steps_total > 0 ? Math.min(100, (steps_done / steps_total) * 100) : null;
}

export function progressText(job: LabJob): string {
  if (job.state === "queued") return "Queued.";
  const share = percent(job);
  const stage = job.stage || "Starting";
  return share === null
    ? `${stage}…`
    : `${stage}: ${count(job.steps_done)} of ${count(job.steps_total)} (${formatPercent(share / 100)})`;
}

function askingText(cost: LabCost, asking: NonNullable<LabCost["asking"]>): string {
  const { rows, questions } = asking;
  const price = asking.price === null ? "price unknown" : `costing about ${formatNumber(asking.price)}`;
  const speed = cost.measured ? "based on earlier jobs" : "assuming three seconds per question";
  return (
    `Asks ${asking.model} about ${count(rows)} ${rows === 1 ? "row" : "rows"}: about ${count(questions)} ` +
    `${questions === 1 ? "question" : "questions"} with ${count(asking.prompt_tokens)} prompt tokens and ` +
    `${count(asking.completion_tokens)} completion tokens, ${price}. Takes about ` +
    `${formatDuration(Math.ceil(cost.seconds))}, ${speed}. All figures are estimates.${leftOutText(asking.left_out)}`
  );
}

function leftOutText(rows: number): string {
  if (rows === 0) return "";
  return rows === 1
    ? " One row is left out: it has no gold answer, or is a variation itself."
    : ` ${count(rows)} rows are left out: they have no gold answer, or are variations themselves.`;
}

/** The answers of a model, and what they cost. */
export function askedText(asked: AskedReport): string {
  const price = asked.price === null ? "Price unknown." : `Price: ${formatNumber(asked.price)}.`;
  return (
    `${asked.model} gave ${count(asked.questions)} ${asked.questions === 1 ? "answer" : "answers"}: ` +
    `${count(asked.prompt_tokens)} prompt tokens, ${count(asked.completion_tokens)} completion tokens. ${price}`
  );
}

/** Why rows with low scores are hidden from a reviewer who has yet to mark them. */
export function keptBackText(rows: number): string {
  const which = rows === 1 ? "One of the lowest rows is" : `${count(rows)} of the lowest rows are`;
  return `${which} among the rows to mark. Mark ${rows === 1 ? "it" : "them"} to see the judge’s verdict.`;
}

/** Agreement of a person and the judge, with intervals. */
export function agreementText(one: ReviewerAgreement): string {
  const share = `${formatPercent(one.agreement)} of ${count(one.marked)} ${one.marked === 1 ? "row" : "rows"}`;
  const kappa =
    one.kappa === null
      ? "κ is undefined because both gave every row the same mark"
      : `κ ${signed(one.kappa)} (${signed(one.kappa_low)} to ${signed(one.kappa_high)})`;
  return `agrees on ${share} (95 %: ${formatPercent(one.low)} to ${formatPercent(one.high)}), ${kappa}`;
}

const signed = (value: number | null) => (value ?? 0).toFixed(2).replace("-", "−");
