/** Where the tries of a row lie in a small picture, and what each says. */
import type { RowRun } from "@/api/model";
import { formatNumber } from "@/lib/format";

export type Try = RowRun["tries"][number];

/** A dot per try: right of earlier steps, and higher the more of its samples were right; ungraded ones at the bottom. */
export function tries(all: Try[], width: number, height: number) {
  const [first, last] = [all[0]?.step ?? 0, all.at(-1)?.step ?? 0];
  return all.map((one, index) => ({
    key: `${one.step} ${index}`,
    x: 4 + (last > first ? (one.step - first) / (last - first) : 0.5) * (width - 8),
    y: 4 + (1 - (one.graded > 0 ? one.right / one.graded : 0)) * (height - 8),
    one,
  }));
}

export function tryTitle({ step, right, graded, reward, fate, reason }: Try): string {
  const left = fate === "rejected" ? `; rejected by ${reason}` : fate === "dropped" ? `; dropped: ${reason}` : "";
  if (graded === 0) return `Step ${step}: no sample could be graded${left}`;
  return `Step ${step}: ${right} of ${graded} correct, mean reward ${formatNumber(reward, 3)}${left}`;
}
