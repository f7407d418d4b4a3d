import { queryOptions } from "@tanstack/react-query";
import { get } from "@/api/http";
import type { List, Reward } from "@/api/model";
import type { JsonSchema } from "@/features/schema-form/schema";

export const rewardsQuery = queryOptions({
  queryKey: ["rewards"],
  queryFn: ({ signal }) => get<List<Reward>>("/rewards", { limit: 100 }, signal),
});

export const rewardQuery = (id: string) =>
  queryOptions({
    queryKey: ["rewards", id],
    queryFn: ({ signal }) => get<Reward>(`/rewards/${id}`, undefined, signal),
  });

export const rewardSchemaQuery = queryOptions({
  queryKey: ["rewards", "schema"],
  queryFn: ({ signal }) => get<JsonSchema>("/rewards/schema", undefined, signal),
  staleTime: Infinity,
});
