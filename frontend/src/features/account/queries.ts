import * as api from "@/api/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

export const secondFactorsQuery = queryOptions({
  queryKey: ["account", "second-factors"],
  queryFn: ({ signal }) => api.getSecondFactors({ signal }),
});

export const passkeysQuery = queryOptions({
  queryKey: ["account", "passkeys"],
  queryFn: ({ signal }) => api.listPasskeys({ limit: 200 }, { signal }),
});

export const sessionsQuery = queryOptions({
  queryKey: ["account", "sessions"],
  queryFn: ({ signal }) => api.listSessions({ limit: 200 }, { signal }),
});

export const eventsQuery = infiniteQueryOptions({
  queryKey: ["account", "events"],
  queryFn: ({ signal, pageParam }) => api.listAccountEvents({ limit: 20, after: pageParam ?? undefined }, { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: page => (page.has_more ? page.next : null),
});
