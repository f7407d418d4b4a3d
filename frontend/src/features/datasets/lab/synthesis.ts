/** Words and choices of a synthesis: what a model is asked to make of rows, and why variations are refused. */
import type { LabOperation } from "@/api/client";
import type { RefusedVariation } from "@/api/model";

/** What a model may be asked for: an instruction, and whether its numbers must be those of the source. */
export const PURPOSES = {
  rephrase: {
    label: "Rephrase, with the same answer",
    instruction:
      "Write the question in other words. Change the order and the build of its sentences, not single words alone. " +
      "Keep its meaning, every number, every condition, what is asked for and the form in which the answer is wanted, " +
      "so that the answer stays the same.",
    sameNumbers: true,
  },
  setting: {
    label: "Another setting, with the same answer",
    instruction:
      "Tell the same problem in another setting, with other people, things and places. Keep every number, how they " +
      "depend on each other, what is asked for and the form in which the answer is wanted, so that the answer stays " +
      "the same.",
    sameNumbers: true,
  },
  distraction: {
    label: "A detail that does not matter",
    instruction:
      "Write the question in other words and add a fact with a number that has nothing to do with what is asked for. " +
      "Keep all else, so that the answer stays the same.",
    sameNumbers: false,
  },
} as const;

export type Purpose = keyof typeof PURPOSES;

export interface SynthesisFields {
  purpose: Purpose;
  instruction: string;
  /** Words that the chosen rows have; empty for all rows. */
  words: string;
  variations: number | string;
  attempts: number | string;
  /** Share of right answers in per cent from which a variation is kept. */
  least: number | string;
  solver: string | null;
  seed: number | string;
}

export const NO_SYNTHESIS: SynthesisFields = {
  purpose: "rephrase",
  instruction: PURPOSES.rephrase.instruction,
  words: "",
  variations: 2,
  attempts: 4,
  least: 50,
  solver: null,
  seed: 0,
};

type Asked = { endpoint: string; sample: number | null };

/** The operation; null where a choice is missing. */
export function synthesisOf(asked: Asked | null, fields: SynthesisFields): LabOperation | null {
  const { variations, attempts, least, seed } = fields;
  const numbers = [variations, attempts, least, seed].every(one => typeof one === "number");
  if (!asked || !numbers || fields.instruction.trim() === "") return null;
  const words = fields.words.trim();
  return {
    kind: "synthesis",
    ...asked,
    query: words ? { text: words } : {},
    instruction: fields.instruction,
    same_numbers: PURPOSES[fields.purpose].sameNumbers,
    variations: Number(variations),
    attempts: Number(attempts),
    least_pass_rate: Number(least) / 100,
    solver: fields.solver,
    seed: Number(seed),
  };
}

/** Why variations are refused, for people. */
export const REASONS: Record<RefusedVariation["reason"], string> = {
  empty: "Empty",
  unreadable: "Unreadable characters",
  control_tokens: "Control tokens",
  length: "Too long or too short",
  answer_told: "Tells the answer",
  other_numbers: "Other numbers",
  alike: "Says the same",
  rarely_right: "Too rarely right",
  outvoted: "A wrong answer as often",
  too_easy: "Too often right",
  ungraded: "Not graded",
  unanswered: "Not answered",
};
