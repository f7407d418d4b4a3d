/** JSON as text: taken apart and indented without being parsed, since whole numbers beyond 2^53 would be rounded. */

export interface Member {
  name: string;
  /** Its value as JSON text. */
  text: string;
}

const INDENT = "  ";

/** The members of an object, given as valid JSON text, in their order. */
export function members(object: string): Member[] {
  const found: Member[] = [];
  let depth = 0;
  let start = 0;
  let colon = -1;
  forEachSign(object, (sign, at) => {
    if (depth === 1 && (sign === "," || sign === "}") && colon >= 0) {
      found.push({
        name: JSON.parse(object.slice(start, colon).trim()) as string,
        text: object.slice(colon + 1, at).trim(),
      });
      colon = -1;
      start = at + 1;
    }
    if (depth === 1 && sign === ":") colon = at;
    if (sign === "{" || sign === "[") {
      depth += 1;
      if (depth === 1) start = at + 1;
    }
    if (sign === "}" || sign === "]") depth -= 1;
  });
  return found;
}

/** Valid JSON text with a line for each value. */
export function indented(json: string): string {
  const written: string[] = [];
  let depth = 0;
  let copied = 0;
  let opened = false; // nothing stands yet behind the last sign, which opened a list or an object
  const copy = (until: number) => {
    const value = json.slice(copied, until).trim();
    copied = until + 1;
    if (value === "") return;
    if (opened) written.push(line(depth));
    opened = false;
    written.push(value);
  };
  forEachSign(json, (sign, at) => {
    copy(at);
    if (sign === "{" || sign === "[") {
      if (opened) written.push(line(depth));
      depth += 1;
      opened = true;
      written.push(sign);
    } else if (sign === "}" || sign === "]") {
      depth -= 1;
      written.push(opened ? sign : line(depth) + sign);
      opened = false;
    } else written.push(sign === "," ? `,${line(depth)}` : ": ");
  });
  copy(json.length);
  return written.join("");
}

/** Calls back for each sign of the structure, which those in texts are not. */
function forEachSign(json: string, each: (sign: string, at: number) => void): void {
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at]!;
    if (inText && sign === "\\") at += 1;
    else if (sign === '"') inText = !inText;
    else if (!inText && "{}[],:".includes(sign)) each(sign, at);
  }
}

const line = (depth: number) => `\n${INDENT.repeat(depth)}`;
