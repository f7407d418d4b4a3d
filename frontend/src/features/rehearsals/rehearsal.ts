/** Texts and figures of a dry run. */
import type { PromptPiece, Rehearsal, RehearsalSample } from "@/api/model";
import { formatDuration, formatPercent } from "@/lib/format";

export interface Part {
  text: string;
  control: boolean;
  /** Tokens that are joined in it. */
  tokens: number;
}

/** The pieces of a prompt, those that are text joined: what is read as one is shown as one. */
export function joined(pieces: PromptPiece[]): Part[] {
  const found: Part[] = [];
  for (const { text, control } of pieces) {
    const last = found.at(-1);
    if (last && !control && !last.control) {
      last.text += text;
      last.tokens += 1;
    } else found.push({ text, control, tokens: 1 });
  }
  return found;
}

/** Text in which nothing is invisible: spaces at the end of lines and tabs have signs. */
export function visible(text: string): string {
  return text
    .replaceAll("\t", "⇥\t")
    .replace(/ +$/gm, spaces => "·".repeat(spaces.length))
    .replaceAll("\n", "↵\n");
}

const ENDS: Record<string, string> = {
  stop: "finished",
  length: "truncated",
  repetition: "stopped: repetition",
  pruned: "dropped",
  aborted: "aborted",
};

export function endOf({ finish_reason: reason }: Pick<RehearsalSample, "finish_reason">): string {
  return ENDS[reason] ?? reason;
}

/** Its current phase, as half a sentence. */
export function phaseOf({ state, progress, ahead }: Pick<Rehearsal, "state" | "progress" | "ahead">): string {
  if (state === "queued") {
    if (ahead === 0) return "Waiting for a worker";
    return ahead === 1 ? "Queued: one dry run ahead" : `Queued: ${ahead} dry runs ahead`;
  }
  if (progress?.phase === "generating") return `Sampling and grading, ${progress.done} of ${progress.total} prompts`;
  return "Loading the policy and the graders";
}

/** The expected time of a step, as a sentence. */
export function stepSentence({ step_time: time }: Pick<Rehearsal, "step_time">): string | null {
  if (!time) return null;
  if (time.step_seconds === null) {
    const generating = formatDuration(Math.max(1, Math.round(time.generate_seconds)));
    return `A step generates for about ${generating}; its learning time is unknown until the first run of this policy.`;
  }
  const whole = formatDuration(Math.max(1, Math.round(time.step_seconds)));
  if (!time.estimated) return `A step takes about ${whole}, by ${time.source}.`;
  const learning = formatDuration(Math.max(1, Math.round(time.learn_seconds ?? 0)));
  return (
    `A step takes about ${whole}, an estimate: the engine's speed was measured here; learning (about ${learning}) ` +
    "is derived from the policy's size and this machine's peak."
  );
}

export function signalSentence(share: number, groups: number): string {
  const some = Math.round(share * groups);
  return `${some} of ${groups} groups (${formatPercent(share)}) have signal: their rewards differ.`;
}
