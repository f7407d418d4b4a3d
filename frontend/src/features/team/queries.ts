import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { get } from "@/api/http";
import type { AuditEntry, List, Member, Token } from "@/api/model";

export const membersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => get<List<Member>>("/teams/current/members", { limit: 200 }, signal),
});

export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: ({ signal }) => get<List<Token>>("/tokens", { limit: 200 }, signal),
});

export const auditQuery = infiniteQueryOptions({
  queryKey: ["audit"],
  queryFn: ({ signal, pageParam }) =>
    get<List<AuditEntry>>("/audit", { limit: 50, after: pageParam ?? undefined }, signal),
  initialPageParam: null as string | null,
  getNextPageParam: page => (page.has_more ? page.next : null),
});
