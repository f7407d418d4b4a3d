/** Fetches runs with their specs, batched into one request. */
import * as api from "@/api/client";
import type { Run } from "@/api/model";
import { gathering } from "@/lib/gather";

/** What one request may name. */
const MOST_RUNS = 20;

const requestGathered = gathering<null, Run>({
  one: (id, _, signal) => api.getRun(id, { signal }),
  several: async (ids, _, signal) => {
    const { data } = await api.listRunsById({ runs: ids.join(",") }, { signal });
    return new Map(data.map(run => [run.id, run]));
  },
  most: () => MOST_RUNS,
});

export function requestRun(id: string, signal?: AbortSignal): Promise<Run> {
  return requestGathered(id, null, signal);
}
