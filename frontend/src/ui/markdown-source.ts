/** Takes formulas out of Markdown before it is read, by the rules of all other text: Markdown would eat their signs. */
import { type Part, parts } from "./written-parts";

export type Formula = Extract<Part, { kind: "math" }>;

/** Signs of Unicode's private area, which nobody types. */
const [MARK, DOLLAR, BACKSLASH] = ["\uE000", "\uE001", "\uE002"];
/** Code within a line. Money and paths in it are no formulas. */
const INLINE_CODE = /(?<!`)(`{1,2})(?!`)([^\n]+?)(?<!`)\1(?!`)/g;
const PLACE = new RegExp(`^${MARK}(\\d+)${MARK}$`);
const PLACES = new RegExp(`\`?${MARK}(\\d+)${MARK}\`?`, "g");

/** The text with a mark in the place of each formula, as code, which Markdown leaves as it is. */
export function withoutFormulas(text: string): { markdown: string; formulas: Formula[] } {
  const formulas: Formula[] = [];
  const masked = text.replace(INLINE_CODE, span => span.replaceAll("$", DOLLAR).replaceAll("\\", BACKSLASH));
  const markdown = parts(masked)
    .map(part => (part.kind === "math" ? `\`${MARK}${formulas.push(part) - 1}${MARK}\`` : part.text))
    .join("");
  return { markdown: unmasked(markdown), formulas };
}

/** The formula that is at such a mark. */
export function formulaAt(code: string, formulas: Formula[]): Formula | undefined {
  const place = PLACE.exec(code)?.[1];
  return place === undefined ? undefined : formulas[Number(place)];
}

/** The text again, with the source of each formula in its place. */
export function withFormulas(markdown: string, formulas: Formula[]): string {
  return markdown.replaceAll(PLACES, (mark, place: string) => unmasked(formulas[Number(place)]?.text ?? mark));
}

interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

/** A plugin of remark: where a formula turned out to be in code or in HTML, it is what was written. */
export function unmarked(formulas: Formula[]) {
  return () => (tree: Node) => {
    const open: Node[] = [tree];
    for (let node = open.pop(); node; node = open.pop()) {
      if (node.value !== undefined && !(node.type === "inlineCode" && formulaAt(node.value, formulas)))
        node.value = withFormulas(node.value, formulas);
      open.push(...(node.children ?? []));
    }
  };
}

const unmasked = (text: string) => text.replaceAll(DOLLAR, "$").replaceAll(BACKSLASH, "\\");
