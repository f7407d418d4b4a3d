/** The prompts of a run in one line: what was handed out is the sum of what became of it. */
import type { Run } from "@/api/model";
import { formatNumber } from "@/lib/format";

export type Ledger = NonNullable<Run["ledger"]>;
type Reasons = Record<string, number>;

const EARLIER = "settled before the run had a ledger";

export function ledgerLine(ledger: Ledger): string {
  const parts = [
    `${formatNumber(ledger.trained)} trained`,
    `${formatNumber(total(ledger.rejected))} rejected`,
    `${formatNumber(total(ledger.dropped))} dropped`,
    `${formatNumber(ledger.pending)} pending`,
  ];
  if (ledger.earlier > 0) parts.push(`${formatNumber(ledger.earlier)} ${EARLIER}`);
  return `${formatNumber(ledger.handed_out)} handed out = ${parts.join(" + ")}`;
}

export function ledgerHint({ step, rejected, dropped }: Ledger): string {
  const reasons = [named("Rejected by", rejected), named("Dropped for", dropped)].filter(text => text !== "");
  return [`Prompts up to step ${formatNumber(step)}, each counted once.`, ...reasons].join(" ");
}

function total(reasons: Reasons): number {
  return Object.values(reasons).reduce((sum, count) => sum + count, 0);
}

function named(what: string, reasons: Reasons): string {
  const found = Object.entries(reasons).sort((one, other) => other[1] - one[1]);
  if (found.length === 0) return "";
  return `${what} ${found.map(([name, count]) => `${name}: ${formatNumber(count)}`).join(", ")}.`;
}
