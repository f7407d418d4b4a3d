/** Bounds the work of parsing and rendering, so that no text can freeze the page. */

/** Signs of lists and quotes at the beginning of one line. */
const MOST_MARKS = 20;
/** Signs of emphasis in one paragraph: each may open what a later one closes. */
const MOST_SIGNS = 2_000;
/** Elements within each other, all elements, and cells of tables: short rows are filled up to the length of the first. */
const MOST = { depth: 100, nodes: 25_000, cells: 5_000 };

const DEEP = new RegExp(String.raw`^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))){${MOST_MARKS + 1}}`, "m");

/** Whether Markdown can be parsed without a noticeable delay. */
export function isReadable(markdown: string): boolean {
  if (DEEP.test(markdown)) return false;
  return markdown.split(/\n[ \t]*\n/).every(paragraph => (paragraph.match(/[*_~]/g)?.length ?? 0) <= MOST_SIGNS);
}

interface Node {
  type: string;
  align?: unknown[] | null;
  children?: Node[];
}

/** A plugin of remark: throws where drawing would take too much. */
export function bounded() {
  return (tree: Node) => {
    let [nodes, cells] = [0, 0];
    const open: { node: Node; depth: number }[] = [{ node: tree, depth: 0 }];
    for (let next = open.pop(); next; next = open.pop()) {
      const { node, depth } = next;
      nodes += 1;
      if (node.type === "table") cells += (node.align?.length ?? 0) * (node.children?.length ?? 0);
      if (depth > MOST.depth || nodes > MOST.nodes || cells > MOST.cells) throw new RangeError("too large to render");
      for (const child of node.children ?? []) open.push({ node: child, depth: depth + 1 });
    }
  };
}
