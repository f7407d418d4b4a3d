/** Texts of a run's health. */
import type { Run } from "@/api/model";

/** "entropy collapse since step 120 and 2 more"; empty if nothing was found. */
export function healthWords(health: Run["health"]): string {
  const [first, ...others] = health.findings;
  if (!first) return "";
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return `${first.guard} since step ${first.since.toLocaleString("en-GB")}${more}`;
}
