import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { JsonSchema } from "@/api/model";

export const rewardsQuery = queryOptions({
  queryKey: ["rewards"],
  queryFn: ({ signal }) => api.listRewards({ limit: 200 }, { signal }),
});

export const rewardQuery = (id: string) =>
  queryOptions({
    queryKey: ["rewards", id],
    queryFn: ({ signal }) => api.getReward(id, { signal }),
  });

export const rewardSchemaQuery = queryOptions({
  queryKey: ["rewards", "schema"],
  queryFn: ({ signal }) => api.getRewardSchema({ signal }) as Promise<JsonSchema>,
  staleTime: Infinity,
});
