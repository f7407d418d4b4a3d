/** Finds formulas and code in text that a person or a policy wrote. Everything else stays as it is. */

export type Part =
  | { kind: "text"; text: string }
  | { kind: "math"; text: string; tex: string; display: boolean }
  | { kind: "code"; text: string; code: string; language: string };

/** Signs beyond which a text is shown as it is. */
export const MAX_LENGTH = 100_000;
/** Formulas and pieces of code of a text that are drawn; what follows stays text. */
export const MAX_DRAWN = 500;
const MAX_TEX = 2_000;

const ENVIRONMENTS = "align|aligned|array|bmatrix|cases|equation|gather|matrix|multline|pmatrix|split|vmatrix";
const FENCE = /^(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n`]*\n([\s\S]*?)(?:\n)?^\1[ \t]*$/my;
const ENVIRONMENT = new RegExp(String.raw`\\begin\{((?:${ENVIRONMENTS})\*?)\}[\s\S]*?\\end\{\1\}`, "y");
const DISPLAY = /\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]/y;
const ROUND = /\\\(([\s\S]+?)\\\)/y;
/** As Pandoc reads it: nothing blank inside its edges and no digit behind, so that "$5 and $10" is money. */
const DOLLARS = /\$(?![\s$])((?:\\.|[^$\\\n])*(?:\\\S|[^\s$\\]))\$(?!\d)/y;
/** Where something may begin. */
const BEGINS = /[$\\`~]/g;

/** The parts of a text, in order; their `text` put together is the text. */
export function parts(text: string): Part[] {
  if (text.length > MAX_LENGTH) return [{ kind: "text", text }];
  const found: Part[] = [];
  let [plain, at, drawn] = [0, 0, 0];
  while (drawn < MAX_DRAWN) {
    BEGINS.lastIndex = at;
    const begin = BEGINS.exec(text);
    if (!begin) break;
    const part = partAt(text, begin.index);
    if (part) {
      if (begin.index > plain) found.push({ kind: "text", text: text.slice(plain, begin.index) });
      found.push(part);
      plain = at = begin.index + part.text.length;
      drawn += 1;
    } else at = begin.index + (text[begin.index] === "\\" && /[$`~\\]/.test(text[begin.index + 1] ?? "") ? 2 : 1);
  }
  if (plain < text.length || found.length === 0) found.push({ kind: "text", text: text.slice(plain) });
  return found;
}

function partAt(text: string, at: number): Part | null {
  const sign = text[at];
  if (sign === "`" || sign === "~") {
    const fence = match(FENCE, text, at);
    return fence && { kind: "code", text: fence[0], language: fence[2] ?? "", code: fence[3] ?? "" };
  }
  const display = match(DISPLAY, text, at);
  if (display) return math(display[0], display[1] ?? display[2] ?? "", true);
  if (sign === "$") {
    const dollars = match(DOLLARS, text, at);
    return dollars && math(dollars[0], dollars[1] ?? "", false);
  }
  const round = match(ROUND, text, at);
  if (round) return math(round[0], round[1] ?? "", false);
  const environment = match(ENVIRONMENT, text, at);
  if (environment) return math(environment[0], environment[0], true);
  const boxed = boxedAt(text, at);
  return boxed === null ? null : math(boxed, boxed, false);
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function math(text: string, tex: string, display: boolean): Part | null {
  return tex.trim() && tex.length <= MAX_TEX ? { kind: "math", text, tex, display } : null;
}

/** `\boxed{…}` outside of a formula, as many policies end. */
function boxedAt(text: string, at: number): string | null {
  if (!text.startsWith("\\boxed{", at)) return null;
  let depth = 0;
  for (let end = at + 6; end < Math.min(text.length, at + MAX_TEX); end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "{") depth += 1;
    else if (text[end] === "}" && --depth === 0) return text.slice(at, end + 1);
  }
  return null;
}
