/** The tokens of a completion that are its thinking. */
import type { Fold } from "./lines";
import { splitThinking, type Tags } from "./thinking";

/** Thinking of fewer tokens than this is not worth folding. */
const SHORTEST = 40;

export function thinkingFold(texts: string[], tags: Tags | null): Fold | null {
  const text = texts.join("");
  const { thinking } = splitThinking(text, tags);
  if (!thinking) return null;
  const begin = text.indexOf(thinking);
  const from = tokenAt(texts, begin);
  const to = tokenAt(texts, begin + thinking.length);
  return to - from < SHORTEST ? null : { from, to };
}

/** The first token that starts at or behind a character. */
function tokenAt(texts: string[], character: number): number {
  let seen = 0;
  for (const [token, text] of texts.entries()) {
    if (seen >= character) return token;
    seen += text.length;
  }
  return texts.length;
}
