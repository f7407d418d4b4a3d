/** The request for a dataset of stored rollouts. */
import type { GroupFilter } from "./queries";

export type DatasetKind = "completions" | "pairs";

export interface DatasetFields {
  kind: DatasetKind;
  name: string;
  perPrompt: number;
  /** Null: answers that succeed. */
  minReward: number | null;
  minGap: number;
}

export const firstFields = (run: string): DatasetFields => ({
  kind: "completions",
  name: `${run} answers`.slice(0, 110),
  perPrompt: 1,
  minReward: null,
  minGap: 0,
});

/** The steps of the filter count; other filters choose groups to look at, not answers to learn from. */
export function datasetBody(fields: DatasetFields, filter: GroupFilter, dryRun: boolean) {
  return {
    kind: fields.kind,
    into: { name: fields.name.trim() },
    per_prompt: fields.perPrompt,
    first_step: filter.step ?? filter.first ?? null,
    last_step: filter.step ?? filter.last ?? null,
    dry_run: dryRun,
    ...(fields.kind === "completions" ? { min_reward: fields.minReward } : { min_gap: fields.minGap }),
  };
}
