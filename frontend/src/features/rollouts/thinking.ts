/** Splits a completion into thinking and answer by the tags of the run's spec. */
import type { Spec } from "@/api/model";
import { getIn } from "@/features/schema-form/pointer";

export interface Tags {
  start: string;
  end: string;
}

export function thinkingTags(spec: Spec | undefined): Tags | null {
  if (getIn(spec, ["thinking", "type"]) !== "tags") return null;
  return {
    start: String(getIn(spec, ["thinking", "start"]) ?? "<think>"),
    end: String(getIn(spec, ["thinking", "end"]) ?? "</think>"),
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
  const end = completion.indexOf(tags.end);
  const start = completion.indexOf(tags.start);
  if (end === -1) {
    if (start === -1) return { thinking: null, answer: completion, closed: true };
    return { thinking: completion.slice(start + tags.start.length), answer: "", closed: false };
  }
  // The opening tag may stand in the prompt, so the completion may begin inside the thinking.
  const from = start !== -1 && start < end ? start + tags.start.length : 0;
  return { thinking: completion.slice(from, end), answer: completion.slice(end + tags.end.length), closed: true };
}
