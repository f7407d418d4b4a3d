/** Blocks of a report as values: made, moved, copied and checked by pure functions. */
import type { Report, ReportBlock, ReportContentRunMention, Run } from "@/api/model";
import { newKey } from "@/lib/key";

export type Kind = ReportBlock["type"];
export type BlockOf<K extends Kind> = Extract<ReportBlock, { type: K }>;

/** The editable content of a report. */
export type ReportText = Pick<Report, "title"> & { blocks: ReportBlock[] };

export const UNTITLED = "Untitled report";
export const MOST_BLOCKS = 100;
export const MOST_METRICS = 12;
export const MOST_TEXT = 20_000;

export const newId = () => newKey().slice(0, 12);

export function mention({ id, name }: Pick<Run, "id" | "name">): ReportContentRunMention {
  return { id, name };
}

export function textOf(report: Pick<Report, "title" | "content">): ReportText {
  return { title: report.title, blocks: report.content.blocks ?? [] };
}

export function textBlock(markdown = ""): BlockOf<"text"> {
  return { type: "text", id: newId(), markdown };
}

export function chartBlock(
  runs: ReportContentRunMention[],
  metrics: string[],
  drawn: Partial<BlockOf<"chart">> = {},
): BlockOf<"chart"> {
  return { type: "chart", id: newId(), runs, metrics, ...drawn };
}

/** An empty block of a kind, about `runs` where it is about any. */
export function emptyBlock(kind: Kind, runs: ReportContentRunMention[]): ReportBlock {
  if (kind === "text") return textBlock();
  if (kind === "chart") return chartBlock(runs, ["critic/score/mean"]);
  if (kind === "sample")
    return { type: "sample", id: newId(), run: runs[0] ?? { id: "" }, step: 0, group: "", number: 0 };
  return { type: kind, id: newId(), runs };
}

/** The runs of the report's last block: a new block is most likely about them. */
export function spokenOf(blocks: ReportBlock[]): ReportContentRunMention[] {
  const last = blocks.findLast(block => "runs" in block && block.runs.length > 0);
  return last && "runs" in last ? last.runs : [];
}

export function inserted(blocks: ReportBlock[], at: number, block: ReportBlock): ReportBlock[] {
  return [...blocks.slice(0, at), block, ...blocks.slice(at)];
}

export function replaced(blocks: ReportBlock[], next: ReportBlock): ReportBlock[] {
  return blocks.map(block => (block.id === next.id ? next : block));
}

export function removed(blocks: ReportBlock[], id: string): ReportBlock[] {
  return blocks.filter(block => block.id !== id);
}

/** Moves a block to the position of another, within the list. */
export function moved(blocks: ReportBlock[], id: string, to: number): ReportBlock[] {
  const block = blocks.find(one => one.id === id);
  if (!block || to < 0 || to >= blocks.length) return blocks;
  return inserted(removed(blocks, id), to, block);
}

/** A copy right behind the block. */
export function duplicated(blocks: ReportBlock[], id: string): ReportBlock[] {
  const at = blocks.findIndex(block => block.id === id);
  const block = blocks[at];
  return block ? inserted(blocks, at + 1, { ...block, id: newId() }) : blocks;
}

/** What must be fixed before the report can be saved; null if nothing. */
export function missing({ title, blocks }: ReportText): string | null {
  if (!title.trim()) return "Enter a title for the report.";
  for (const [place, block] of blocks.entries()) {
    const where = `Block ${place + 1}`;
    if ("runs" in block && block.runs.length === 0) return `${where}: choose at least one run.`;
    if (block.type === "chart" && block.metrics.length === 0) return `${where}: choose at least one metric.`;
    if (block.type === "chart" && !isRange(block.y_from, block.y_to))
      return `${where}: the minimum value must be below the maximum.`;
    if (block.type === "chart" && !isRange(block.x_from, block.x_to))
      return `${where}: the x axis must start before it ends.`;
    if (block.type === "sample" && !(block.run.id && block.group)) return `${where}: choose a sample.`;
  }
  return null;
}

/** What can be saved of a text: a title, and the blocks from which nothing is missing. */
export function savable({ title, blocks }: ReportText): ReportText {
  return {
    title: title.trim() || UNTITLED,
    blocks: blocks.filter(block => missing({ title: UNTITLED, blocks: [block] }) === null),
  };
}

function isRange(from: number | null | undefined, to: number | null | undefined): boolean {
  return from === null || from === undefined || to === null || to === undefined || from < to;
}
