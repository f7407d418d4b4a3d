import { account } from "@/api/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

export const secondFactorsQuery = queryOptions({
  queryKey: ["account", "second-factors"],
  queryFn: ({ signal }) => account.secondFactors(signal),
});

export const passkeysQuery = queryOptions({
  queryKey: ["account", "passkeys"],
  queryFn: ({ signal }) => account.passkeys(signal),
});

export const sessionsQuery = queryOptions({
  queryKey: ["account", "sessions"],
  queryFn: ({ signal }) => account.sessions(signal),
});

export const eventsQuery = infiniteQueryOptions({
  queryKey: ["account", "events"],
  queryFn: ({ signal, pageParam }) => account.events(pageParam, signal),
  initialPageParam: null as string | null,
  getNextPageParam: page => (page.has_more ? page.next : null),
});
