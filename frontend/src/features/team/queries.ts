import { type AuditFilter, judges, team } from "@/api/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

export const membersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => team.members(signal),
});

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: ({ signal }) => team.invitations(signal),
});

export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: ({ signal }) => team.tokens(signal),
});

export const tokenOptionsQuery = queryOptions({
  queryKey: ["token-options"],
  queryFn: ({ signal }) => team.tokenOptions(signal),
  staleTime: Infinity,
});

export const serviceAccountsQuery = queryOptions({
  queryKey: ["service-accounts"],
  queryFn: ({ signal }) => team.serviceAccounts(signal),
});

export const judgesQuery = queryOptions({
  queryKey: ["judges"],
  queryFn: ({ signal }) => judges.list(signal),
});

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ signal, pageParam }) => team.audit(filter, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
  });
