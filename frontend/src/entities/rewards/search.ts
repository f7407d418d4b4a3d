/** View state of the reward page that lives in its address. */
import { number, oneOf, text } from "@/lib/search";

export const REWARD_TABS = ["definition", "bench", "proposals", "versions"] as const;
export type RewardTab = (typeof REWARD_TABS)[number];

export interface RewardSearch {
  version?: number;
  tab?: RewardTab;
  /** Stored rollouts that the bench starts with: a run, and ids with commas between. */
  run?: string;
  rollouts?: string;
  /** Instead of ids: the filter of rollouts, as JSON. */
  matching?: string;
  /** The bench job shown. */
  job?: string;
  show?: string;
  /** Proposals of this state. */
  state?: string;
}

export function rewardSearch(search: Record<string, unknown>): RewardSearch {
  return {
    version: number(search.version),
    tab: oneOf(search.tab, REWARD_TABS),
    run: text(search.run),
    rollouts: text(search.rollouts),
    matching: text(search.matching),
    job: text(search.job),
    show: text(search.show),
    state: text(search.state),
  };
}
