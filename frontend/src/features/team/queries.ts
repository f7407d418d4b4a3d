import * as api from "@/api/client";
import type { ListAuditEntriesParams } from "@/api/model";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

export const membersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => api.listMembers({ limit: 200 }, { signal }),
});

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: ({ signal }) => api.listInvitations({ limit: 200 }, { signal }),
});

export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: ({ signal }) => api.listTokens({ limit: 200 }, { signal }),
});

export const tokenOptionsQuery = queryOptions({
  queryKey: ["token-options"],
  queryFn: ({ signal }) => api.getTokenOptions({ signal }),
  staleTime: Infinity,
});

export const serviceAccountsQuery = queryOptions({
  queryKey: ["service-accounts"],
  queryFn: ({ signal }) => api.listServiceAccounts({ limit: 200 }, { signal }),
});

export const judgesQuery = queryOptions({
  queryKey: ["judges"],
  queryFn: ({ signal }) => api.listJudgeEndpoints({ limit: 200 }, { signal }),
});

export type AuditFilter = Pick<ListAuditEntriesParams, "actor" | "action">;

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ signal, pageParam }) =>
      api.listAuditEntries({ limit: 50, ...filter, after: pageParam ?? undefined }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
  });
