/** What a comparison of stored rollouts says, in words. */
import type { BenchJob } from "@/api/model";

/** Rows that the table shows at first. */
export const FIRST_ROWS = 20;

/** "step 3 · 3-1" of `attempt/step/group`. */
export function groupName(group: string): string {
  const [, step, ...rest] = group.split("/");
  return `step ${step} · ${rest.join("/")}`;
}

/** Which rollouts were taken by a filter; null if people picked them. */
export function matchedText(source: BenchJob["source"]): string | null {
  if (!source.matching) return null;
  const { filter, groups, left_out } = source.matching;
  const rest = left_out ? " Older groups were left out: more match than one job can score." : "";
  return `${groups} ${groups === 1 ? "group" : "groups"} that match${filterText(filter)}.${rest}`;
}

const WORDS: Record<string, string> = {
  first_step: "from step",
  last_step: "up to step",
  prompt_id: "prompt",
  group_id: "group",
  min_reward: "reward at least",
  max_reward: "reward at most",
  min_gap: "gap at least",
  q: "text",
};

/** " step 3, dead", or nothing if no filter was given. */
export function filterText(filter: Record<string, unknown>): string {
  const words = Object.entries(filter).map(([name, value]) => {
    if (typeof value === "boolean") return value ? name : `not ${name}`;
    return `${WORDS[name] ?? name.replaceAll("_", " ")} ${String(value)}`;
  });
  return words.length > 0 ? ` ${words.join(", ")}` : "";
}

/** The filter that an address carries; null if it is none. */
export function readFilter(text: string | undefined): Record<string, unknown> | null {
  if (text === undefined) return null;
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
