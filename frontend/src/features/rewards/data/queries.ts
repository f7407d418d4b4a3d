import { queryOptions } from "@tanstack/react-query";
import { rewards } from "@/api/client";

export const rewardsQuery = queryOptions({
  queryKey: ["rewards"],
  queryFn: ({ signal }) => rewards.list(signal),
});

export const rewardQuery = (id: string) =>
  queryOptions({
    queryKey: ["rewards", id],
    queryFn: ({ signal }) => rewards.read(id, signal),
  });

export const rewardSchemaQuery = queryOptions({
  queryKey: ["rewards", "schema"],
  queryFn: ({ signal }) => rewards.schema(signal),
  staleTime: Infinity,
});
