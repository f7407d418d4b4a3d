/** Words and choices of a synthesis: what a model is asked to make of rows, and why variations are refused. */
import type { LabOperation, RefusedVariation } from "@/api/model";

/** Presets of a synthesis: an instruction, and whether the numbers usually stay the same. */
export const PURPOSES = {
  rephrase: {
    label: "Rephrase, same answer",
    instruction:
      "Write the question in other words. Change the order and structure of its sentences, not only single words. " +
      "Keep its meaning, every number, every condition, what is asked for and the form in which the answer is wanted, " +
      "so that the answer stays the same.",
    sameNumbers: true,
  },
  setting: {
    label: "New setting, same answer",
    instruction:
      "Set the same problem in another context, with other people, things and places. Keep every number, how they " +
      "depend on each other, what is asked for and the form in which the answer is wanted, so that the answer stays " +
      "the same.",
    sameNumbers: true,
  },
  distraction: {
    label: "Irrelevant detail",
    instruction:
      "Write the question in other words and add a fact with a number that has nothing to do with what is asked for. " +
      "Keep all else, so that the answer stays the same.",
    sameNumbers: false,
  },
  whole: {
    label: "Whole-number answers",
    instruction:
      "Change what the question asks for, as little as possible, so that its answer becomes one whole number that " +
      "follows from the answer given: of a fraction m/n in lowest terms the sum m + n, of an expression such as " +
      "k - m\\sqrt{n} the sum k + m + n, of several values their sum. Say in the question in which form the original " +
      "answer is to be written, so that the whole number is the only one possible. Keep all else.",
    sameNumbers: false,
  },
} as const;

export type Purpose = keyof typeof PURPOSES;

export interface SynthesisFields {
  purpose: Purpose;
  instruction: string;
  sameNumbers: boolean;
  /** Words that the chosen rows have; empty for all rows. */
  words: string;
  variations: number | string;
  attempts: number | string;
  /** Shares of right answers in per cent from which, and up to which, a variation is kept. */
  least: number | string;
  most: number | string;
  /** Likeness in per cent from which a variation says the same as another text. */
  near: number | string;
  solver: string | null;
  /** Written below a variation that is to be answered. */
  answerFormat: string;
  maxTokens: number | string;
  /** Reward that grades the answers; null for mathematical equality. */
  reward: string | null;
  /** Name of a new dataset for the result; null for the next version. */
  into: string | null;
  seed: number | string;
}

export const NO_SYNTHESIS: SynthesisFields = {
  purpose: "rephrase",
  instruction: PURPOSES.rephrase.instruction,
  sameNumbers: PURPOSES.rephrase.sameNumbers,
  words: "",
  variations: 2,
  attempts: 4,
  least: 50,
  most: 100,
  near: 80,
  solver: null,
  answerFormat: "Reason step by step, and put your final answer within \\boxed{}.",
  maxTokens: 2048,
  reward: null,
  into: null,
  seed: 0,
};

type Asked = { endpoint: string; sample: number | null };

/** The operation; null if a choice is missing. */
export function synthesisOf(asked: Asked | null, fields: SynthesisFields): LabOperation | null {
  const { variations, attempts, least, most, near, maxTokens, seed } = fields;
  const numbers = [variations, attempts, least, most, near, maxTokens, seed].every(one => typeof one === "number");
  if (!asked || !numbers || fields.instruction.trim() === "" || bandFault(fields)) return null;
  const [words, name] = [fields.words.trim(), fields.into?.trim()];
  if (name === "") return null;
  return {
    kind: "synthesis",
    ...asked,
    query: words ? { text: words } : {},
    instruction: fields.instruction,
    answers: fields.purpose === "whole" ? "whole" : "same",
    same_numbers: fields.sameNumbers,
    near: Number(near) / 100,
    variations: Number(variations),
    attempts: Number(attempts),
    least_pass_rate: Number(least) / 100,
    most_pass_rate: Number(most) / 100,
    solver: fields.solver,
    answer_format: fields.answerFormat,
    max_tokens: Number(maxTokens),
    reward: fields.reward,
    into: name === undefined ? null : { name },
    seed: Number(seed),
  };
}

/** Why no share of right answers lies in the band. */
export function bandFault({ least, most }: SynthesisFields): string | null {
  return typeof least === "number" && typeof most === "number" && least > most ? `Must be at least ${least} %.` : null;
}

/** Pointers of refusals that are at a field of the form. */
export const SYNTHESIS_FIELDS =
  /^\/(slug|operation\/(endpoint|sample|query|instruction|solver|reward|into|into\/name|answer_format|max_tokens))$/;

/** Why variations are refused, for people. */
export const REASONS: Record<RefusedVariation["reason"], string> = {
  empty: "Empty",
  unreadable: "Unreadable characters",
  control_tokens: "Control tokens",
  length: "Too long or too short",
  answer_told: "Reveals the answer",
  answer_not_whole: "Not a whole number",
  other_numbers: "Different numbers",
  alike: "Duplicate",
  rarely_right: "Too rarely correct",
  outvoted: "A wrong answer equally often",
  too_easy: "Too often correct",
  ungraded: "Not graded",
  unanswered: "Not answered",
};
