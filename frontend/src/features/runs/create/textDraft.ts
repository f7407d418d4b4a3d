/** The spec as text: what is typed, and the spec that it was last read as. */
import { parse, stringify } from "yaml";
import type { Json, Spec } from "@/api/model";
import { isObject } from "@/features/schema-form/schema";

export type Format = "yaml" | "json";

export interface TextDraft {
  format: Format;
  text: string;
  /** Why the text cannot be read; null when it can. */
  fault: string | null;
  /** What the text says; with a fault, what it said last. */
  spec: Spec;
}

/** `spec` written out. */
export function written(spec: Spec, format: Format): TextDraft {
  return { format, text: format === "yaml" ? stringify(spec) : JSON.stringify(spec, null, 2), fault: null, spec };
}

/** `draft` with another text, or with its text read in another format. */
export function reread(draft: TextDraft, change: { text?: string; format?: Format }): TextDraft {
  const next = { ...draft, ...change };
  try {
    const read = (next.format === "yaml" ? parse(next.text) : JSON.parse(next.text)) as Json;
    if (!isObject(read)) throw new Error("A spec must be an object.");
    return { ...next, fault: null, spec: read };
  } catch (error) {
    return { ...next, fault: error instanceof Error ? error.message : String(error) };
  }
}

/** The text to show for `spec`: what was typed, as long as it is unread or says just that. */
export function textFor(spec: Spec, draft: TextDraft | null): TextDraft {
  if (draft && (draft.fault !== null || draft.spec === spec)) return draft;
  return written(spec, draft?.format ?? "yaml");
}
