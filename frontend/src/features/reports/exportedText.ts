/** Texts of a report for readers elsewhere, who may take HTML for HTML, and follow every link. */
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";
import { isReadable } from "@/ui/markdown-bounds";
import { withFormulas, withoutFormulas } from "@/ui/markdown-source";

/** What is written with signs before it may be read in another way, which is looked at again. */
const MOST_LOOKS = 8;
const READERS = [unified().use(remarkParse), unified().use(remarkParse).use(remarkGfm)];
/** As the console follows them. */
const FOLLOWED = /^(?:https?|ircs?|mailto|xmpp):|^[^:]*(?:[/?#]|$)/i;

/** Markdown that says what the console shows: HTML is text, and so are links that it does not follow. */
export function exportedText(text: string): string {
  const { markdown, formulas } = withoutFormulas(text);
  if (!isReadable(markdown)) return fenced(text);
  let found = markdown;
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const places = toEscape(found);
    if (places.length === 0) return withFormulas(found, formulas);
    found = places.reduceRight((now, at) => `${now.slice(0, at)}\\${now.slice(at)}`, found);
  }
  return fenced(text);
}

/** A text as it is, in which no sign means anything. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(run => run[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** A line of plain text, whose signs mean nothing in Markdown. */
export function plainLine(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*<>[\]~|&]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&")
    .replace(/^(?:#{1,6}|[+-])(?=\s|$)/, "\\$&")
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/, "$1\\");
}

interface Node {
  type: string;
  url?: string;
  position?: { start: { offset?: number }; end: { offset?: number } };
  children?: Node[];
}

/** Where a sign must stand so that the next one is text, in order. */
function toEscape(markdown: string): number[] {
  const places = new Set<number>();
  for (const reader of READERS) {
    const open: Node[] = [reader.parse(markdown)];
    for (let node = open.pop(); node; node = open.pop()) {
      const [from = 0, to = 0] = [node.position?.start.offset, node.position?.end.offset];
      if (node.type === "html") for (let at = from; at < to; at += 1) if (markdown[at] === "<") places.add(at);
      if (node.url !== undefined && !FOLLOWED.test(node.url)) places.add(from);
      open.push(...(node.children ?? []));
    }
  }
  return [...places].sort((a, b) => a - b);
}
