import * as api from "@/api/client";
import { queryOptions } from "@tanstack/react-query";

/** Bench jobs of the team, without samples and results. */
export const benchesQuery = queryOptions({
  queryKey: ["benches"],
  queryFn: ({ signal }) => api.listRewardBenches({ limit: 50 }, { signal }),
});

const OPEN = ["queued", "running"];

/** One job; polled until it has ended. One that is gone is not asked for again. */
export const benchQuery = (id: string) =>
  queryOptions({
    queryKey: ["benches", id],
    queryFn: ({ signal }) => api.getRewardBench(id, { signal }),
    refetchInterval: ({ state }) => (state.data && OPEN.includes(state.data.state) ? 700 : false),
  });
