/** Queries of groups and tokens. All begin as the stream outdates them: `["run", id, "rollouts"]`. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { page, telemetry } from "@/api/client";
import type { RunSearch } from "@/features/runs/data/search";
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
      telemetry.groups(id, { ...groupParams(filter), limit: 50, ...page(pageParam) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: last => (last.has_more ? last.next : null),
    placeholderData: keepPreviousData,
  });

export const siblingsQuery = (id: string, group: string) =>
  queryOptions({
    queryKey: ["run", id, "rollouts", "group", group],
    queryFn: ({ signal }) => telemetry.rollouts(id, { group_id: group, limit: 200 }, signal),
    select: list => [...list.data].sort((a, b) => b.step - a.step || a.sample - b.sample),
  });

export const keptQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "rollouts", "kept"],
    queryFn: ({ signal }) => telemetry.kept(id, signal),
  });

/** Tokens never change; they only go. */
export const tokensQuery = (id: string, rollout: string) =>
  queryOptions({
    queryKey: ["run", id, "tokens", rollout],
    queryFn: async ({ signal }) => readTokens(await telemetry.tokens(id, rollout, signal)),
    staleTime: Infinity,
    gcTime: 60_000,
  });
