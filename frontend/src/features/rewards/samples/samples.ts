/** Samples as people paste them: text that is not valid yet may be in any field. */
import type { DatasetRow, Json } from "@/api/model";
import { isObject } from "@/features/schema-form/schema";

export interface Pasted {
  output_text: string;
  /** The dataset row, as JSON text. */
  item: string;
  tokens: number | "";
}

export const FIRST: Pasted = {
  output_text: "<think>48 / 2</think>24",
  item: '{"prompt": "48/2=", "answer": "24"}',
  tokens: 12,
};

export const MAX_SAMPLES = 20;
/** Most stored rollouts that are scored again at once. */
export const MAX_PICKED = 200;
/** Most stored rollouts that a filter takes: whole groups, the newest first. */
export const MAX_MATCHED = 500;

/** A row of a dataset as a sample whose completion is still to be written; it starts with the reference answer. */
export function fromRow(row: DatasetRow): Pasted {
  return { output_text: `<think></think>${row.answer ?? ""}`, item: JSON.stringify(row.row), tokens: 16 };
}

/** What the platform takes. Throws where `item` is no JSON; see {@link isObjectText}. */
export function toBody({ output_text, item, tokens }: Pasted): {
  output_text: string;
  item: { [key: string]: Json };
  completion_tokens?: number;
} {
  return {
    output_text,
    item: JSON.parse(item) as { [key: string]: Json },
    ...(tokens === "" ? {} : { completion_tokens: tokens }),
  };
}

export function isObjectText(text: string): boolean {
  return objectOf(text) !== null;
}

/** The object that `text` holds, or null. */
export function objectOf(text: string): { [key: string]: Json } | null {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export interface ReadLines {
  samples: Pasted[];
  /** The first line that could not be read, from 1, and why. */
  fault: { line: number; reason: string } | null;
}

/** Reads JSON Lines of `{output_text, item, completion_tokens?}`. Empty lines are skipped. */
export function readLines(text: string): ReadLines {
  const samples: Pasted[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.trim()) continue;
    const value = objectOf(line);
    const fault = (reason: string): ReadLines => ({ samples, fault: { line: index + 1, reason } });
    if (value === null) return fault("is not a JSON object");
    if (typeof value.output_text !== "string") return fault("has no output_text");
    if (!isObject(value.item)) return fault("has no item, which is the dataset row");
    const tokens = value.completion_tokens;
    samples.push({
      output_text: value.output_text,
      item: JSON.stringify(value.item),
      tokens: typeof tokens === "number" ? tokens : "",
    });
  }
  return { samples, fault: null };
}
