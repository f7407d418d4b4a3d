/** The judge's question as a rubric's template and items make it: the part of the prompt that people write. */
import type { Json } from "@/api/model";
import { splitThinking } from "@/features/rollouts/thinking";
import { isObject } from "@/features/schema-form/schema";
import type { RubricItem } from "./rubric";

/** A stretch of the preview: written as it stands, filled in, or a placeholder that finds nothing. */
export interface Piece {
  kind: "plain" | "filled" | "missing";
  text: string;
}

export interface PreviewSample {
  output_text: string;
  item: { [key: string]: Json };
}

const PLACE = /\{\{([^{}]*)\}\}/g;
const PATH = /^(item|sample)((?:\.[A-Za-z0-9_-]+|\[\d{1,6}\])+)$/;
const TAGS = { start: "<think>", end: "</think>" };
/** Stands for the code that no completion can hold, because it is made from the completion. */
const MARK = "[mark]";

/** The template with its placeholders filled in from `sample`. */
export function fillTemplate(template: string, sample: PreviewSample): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of template.matchAll(PLACE)) {
    if (match.index > at) pieces.push({ kind: "plain", text: template.slice(at, match.index) });
    const place = (match[1] ?? "").trim();
    const value = valueOf(place, sample);
    if (value === undefined) pieces.push({ kind: "missing", text: match[0] });
    else pieces.push({ kind: "filled", text: place.startsWith("sample") ? `${MARK}\n${value}\n${MARK}` : value });
    at = match.index + match[0].length;
  }
  if (at < template.length) pieces.push({ kind: "plain", text: template.slice(at) });
  return pieces;
}

function valueOf(place: string, sample: PreviewSample): string | undefined {
  const path = PATH.exec(place);
  if (!path) return undefined;
  const steps = [...(path[2] ?? "").matchAll(/\.([A-Za-z0-9_-]+)|\[(\d+)\]/g)].map(step => step[1] ?? Number(step[2]));
  const value = path[1] === "item" ? walk(sample.item, steps) : sampleValue(steps, sample.output_text);
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function sampleValue(steps: (string | number)[], output: string): Json | undefined {
  const split = splitThinking(output, TAGS);
  switch (steps[0]) {
    case "output_text":
      return output;
    case "answer_text":
      return split.answer.trim();
    case "thinking_text":
      return split.thinking?.trim() ?? "";
    case "output_json":
      try {
        return walk(JSON.parse(output) as Json, steps.slice(1));
      } catch {
        return undefined;
      }
    default:
      return undefined;
  }
}

function walk(value: Json, steps: (string | number)[]): Json | undefined {
  return steps.reduce<Json | undefined>((at, step) => {
    if (Array.isArray(at)) return typeof step === "number" ? at[step] : undefined;
    return isObject(at) ? at[String(step)] : undefined;
  }, value);
}

/** The criteria of one question: all of them, or the one at `index`; in reverse order where orders are swapped. */
export function criteria(items: RubricItem[], index: number | null, swapped = false): string {
  const asked = index === null ? [...items] : items.slice(index, index + 1);
  if (swapped) asked.reverse();
  return asked.map((item, place) => `${place + 1}. ${item.name}: ${item.description}`).join("\n");
}

export interface Asking {
  mode: string;
  repeats: number;
  swapOrder: boolean;
}

/** How often the judge is asked about one completion. */
export function questionCount(items: number, { mode, repeats, swapOrder }: Asking): number {
  const each = mode === "together" ? Math.min(1, items) : items;
  return each * Math.max(1, repeats) * (swapOrder ? 2 : 1);
}
