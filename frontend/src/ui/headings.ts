/** Levels of the headings of a text on a page that has a title of its own: no level is left out, wherever one starts. */

interface Node {
  type: string;
  depth?: number;
}

/** A plugin of remark: the first heading is of level two, and each other one level below that which it is under. */
export function ranked() {
  return (tree: { children: Node[] }) => {
    const above: { said: number; shown: number }[] = [];
    for (const node of tree.children) {
      if (node.type !== "heading" || node.depth === undefined) continue;
      while ((above.at(-1)?.said ?? 0) >= node.depth) above.pop();
      const shown = Math.min(6, (above.at(-1)?.shown ?? 1) + 1);
      above.push({ said: node.depth, shown });
      node.depth = shown;
    }
  };
}
