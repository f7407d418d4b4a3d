/**
 * Tokens set in lines of equal height. Only the lines in sight are drawn, so a text of any length scrolls as fluently as
 * a short one; the font has one width, so where a line ends is counted and not measured.
 */

/** Piece of a token on one line. */
export interface Piece {
  token: number;
  text: string;
}

export type Line = { kind: "tokens"; pieces: Piece[] } | { kind: "fold"; from: number; to: number };

/** Tokens from `from` up to `to`, without it. */
export interface Fold {
  from: number;
  to: number;
}

const WIDE = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Extended_Pictographic}/u;
const MARK = /\p{Mark}/u;

/** Text of each token on lines of `columns` characters; the tokens of `fold` are one line. */
export function setLines(texts: string[], columns: number, fold: Fold | null = null): Line[] {
  const lines: Line[] = [];
  let pieces: Piece[] = [];
  let used = 0;
  const end = () => {
    lines.push({ kind: "tokens", pieces });
    pieces = [];
    used = 0;
  };
  for (let token = 0; token < texts.length; token += 1) {
    if (fold && token === fold.from) {
      if (pieces.length > 0) end();
      lines.push({ kind: "fold", ...fold });
      token = fold.to - 1;
      continue;
    }
    // What is shown of a line break is at the end of its line.
    const parts = (texts[token] ?? "").replaceAll("\r\n", "\n").replaceAll("\r", "\n").split("\n");
    parts.forEach((part, place) => {
      const last = place === parts.length - 1;
      for (const piece of chunks(last ? part : `${part}⏎`, columns, used)) {
        if (used > 0 && used + piece.width > columns) end();
        pieces.push({ token, text: piece.text });
        used += piece.width;
      }
      if (!last) end();
    });
  }
  if (pieces.length > 0 || lines.length === 0) end();
  return lines;
}

/** A text in pieces that each fit a line: words stay whole where they can. */
function chunks(text: string, columns: number, used: number): { text: string; width: number }[] {
  if (text === "") return [];
  const whole = width(text);
  if (used + whole <= columns || whole <= columns / 2) return [{ text: shown(text), width: whole }];
  const found: { text: string; width: number }[] = [];
  let piece = "";
  let size = 0;
  let room = columns - used;
  for (const character of text) {
    const own = width(character);
    if (size + own > room && piece) {
      found.push({ text: shown(piece), width: size });
      piece = "";
      size = 0;
      room = columns;
    }
    piece += character;
    size += own;
  }
  found.push({ text: shown(piece), width: size });
  return found;
}

function shown(text: string): string {
  return text.replaceAll("\t", "⇥   ");
}

/** Columns that a text takes. */
function width(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) {
    if (character === "\t") columns += 4;
    else if (WIDE.test(character)) columns += 2;
    else if (!MARK.test(character)) columns += 1;
  }
  return columns;
}

/** The line that holds a token; -1 where it is folded away or not there. */
export function lineOf(lines: Line[], token: number): number {
  return lines.findIndex(line => line.kind === "tokens" && line.pieces.some(piece => piece.token === token));
}
