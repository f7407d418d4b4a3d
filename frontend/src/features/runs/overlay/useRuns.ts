/** Several runs by their ids, refetched while they are active. */
import { useQueries } from "@tanstack/react-query";
import type { Run } from "@/api/model";
import { runQuery } from "@/entities/runs/queries";
import { isLive } from "@/entities/runs/states";
import { isNotThere } from "@/ui/ErrorState";

const LOOK_EVERY = 10_000;

/** The runs in the order of `ids`, and the ids of those that are not there, or not for this team. */
export function useRuns(ids: string[]) {
  return useQueries({
    queries: ids.map(id => ({
      ...runQuery(id),
      refetchInterval: ({ state }: { state: { data?: Run } }) =>
        state.data && isLive(state.data.state) ? LOOK_EVERY : (false as const),
    })),
    combine: found => ({
      runs: found.flatMap(one => (one.data ? [one.data] : [])),
      missing: ids.filter((_, place) => isNotThere(found[place]?.error) && !found[place]?.data),
      failed: found.find(one => one.isError && !one.data && !isNotThere(one.error)),
      isPending: found.some(one => one.isPending),
    }),
  });
}
