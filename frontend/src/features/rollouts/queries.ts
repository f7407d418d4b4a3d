/** Queries of groups and tokens. All begin as the stream outdates them: `["run", id, "rollouts"]`. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { RunSearch } from "@/entities/runs/search";
import { readTokens } from "./tokens";

export type GroupFilter = Pick<
  RunSearch,
  "step" | "first" | "last" | "source" | "prompt" | "min" | "max" | "q" | "only"
>;

export function groupParams(filter: GroupFilter) {
  const { step, source, q, only } = filter;
  return {
    step,
    source,
    q,
    first_step: filter.first,
    last_step: filter.last,
    prompt_id: filter.prompt,
    min_reward: filter.min,
    max_reward: filter.max,
    ...(only === "dead" && { dead: true }),
    ...(only === "alive" && { dead: false }),
    ...(only === "cut" && { cut: true }),
    ...(only === "error" && { error: true }),
  };
}

export const groupsQuery = (id: string, filter: GroupFilter) =>
  infiniteQueryOptions({
    queryKey: ["run", id, "rollouts", "groups", filter],
    queryFn: ({ signal, pageParam }) =>
      api.listGroups(id, { ...groupParams(filter), limit: 50, after: pageParam ?? undefined }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: last => (last.has_more ? last.next : null),
    placeholderData: keepPreviousData,
  });

export const siblingsQuery = (id: string, group: string) =>
  queryOptions({
    queryKey: ["run", id, "rollouts", "group", group],
    queryFn: ({ signal }) => api.listRollouts(id, { group_id: group, limit: 200 }, { signal }),
    select: list => [...list.data].sort((a, b) => b.step - a.step || a.sample - b.sample),
  });

export const keptQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "rollouts", "kept"],
    queryFn: ({ signal }) => api.retrieveKeptRollouts(id, { signal }),
  });

/** Tokens never change; they only go. */
export const tokensQuery = (id: string, rollout: string) =>
  queryOptions({
    queryKey: ["run", id, "tokens", rollout],
    queryFn: async ({ signal }) => readTokens(await api.retrieveRolloutTokens(id, rollout, { signal })),
    staleTime: Infinity,
    gcTime: 60_000,
  });
