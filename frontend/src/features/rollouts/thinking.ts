/** Splits a completion into thinking and answer by the tags of the run's spec. */
import type { Spec } from "@/api/model";
import { getIn } from "@/features/schema-form/pointer";

export interface Tags {
  start: string;
  end: string;
  /** Text that opens the answer, where the closing tag alone does not: the final channel's of Harmony. */
  answerStart?: string | null;
}

export function thinkingTags(spec: Spec | undefined): Tags | null {
  if (getIn(spec, ["thinking", "type"]) !== "tags") return null;
  return {
    start: String(getIn(spec, ["thinking", "start"]) ?? "<think>"),
    end: String(getIn(spec, ["thinking", "end"]) ?? "</think>"),
    answerStart: (getIn(spec, ["thinking", "answer_start"]) as string | null | undefined) ?? null,
  };
}

export interface Split {
  thinking: string | null;
  answer: string;
  /** False when the thinking was never closed. */
  closed: boolean;
}

export function splitThinking(completion: string, tags: Tags | null): Split {
  if (!tags) return { thinking: null, answer: completion, closed: true };
  const split = splitAtTags(completion, tags);
  const opened = tags.answerStart ? split.answer.lastIndexOf(tags.answerStart) : -1;
  return opened === -1 ? split : { ...split, answer: split.answer.slice(opened + (tags.answerStart ?? "").length) };
}

function splitAtTags(completion: string, tags: Tags): Split {
  const end = completion.indexOf(tags.end);
  const start = completion.indexOf(tags.start);
  if (end === -1) {
    if (start === -1) return { thinking: null, answer: completion, closed: true };
    return { thinking: completion.slice(start + tags.start.length), answer: "", closed: false };
  }
  // The opening tag may be in the prompt, so the completion may begin inside the thinking.
  const from = start !== -1 && start < end ? start + tags.start.length : 0;
  return { thinking: completion.slice(from, end), answer: completion.slice(end + tags.end.length), closed: true };
}
