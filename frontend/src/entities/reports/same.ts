/** Whether two texts of a report say the same, however they are written down. */
import type { ReportBlock, ReportContentRunMention } from "@/api/model";
import type { ReportText } from "./blocks";

/** The platform's defaults for missing members. */
const LEFT_OUT: Record<string, unknown> = { x: "step", together: false, smooth: 0, lineage: true };

export function sameText(a: ReportText, b: ReportText): boolean {
  return plain(a) === plain(b);
}

function plain({ title, blocks }: ReportText): string {
  return JSON.stringify([title.trim(), blocks.map(plainBlock)]);
}

function plainBlock(block: ReportBlock): [string, unknown][] {
  const members = Object.entries(block).filter(([name, value]) => !isLeftOut(name, value));
  return members.map(([name, value]): [string, unknown] => [name, plainValue(name, value)]).sort(byName);
}

function isLeftOut(name: string, value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === LEFT_OUT[name];
}

function plainValue(name: string, value: unknown): unknown {
  if (name === "as_of") return Date.parse(String(value));
  if (name === "runs") return (value as ReportContentRunMention[]).map(plainMention);
  return name === "run" ? plainMention(value as ReportContentRunMention) : value;
}

const plainMention = ({ id, name = "" }: ReportContentRunMention) => [id, name];

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
