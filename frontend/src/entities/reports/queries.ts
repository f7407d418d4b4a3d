import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";

/** How often a reader sees the saves of others, in milliseconds. */
const LOOK_EVERY = 20_000;

export const reportsQuery = infiniteQueryOptions({
  queryKey: ["reports"],
  queryFn: ({ signal, pageParam }) => api.listReports({ limit: 100, after: pageParam ?? undefined }, { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: last => (last.has_more ? last.next : null),
});

export const reportQuery = (id: string) =>
  queryOptions({
    queryKey: ["report", id],
    queryFn: ({ signal }) => api.getReport(id, { signal }),
    refetchInterval: LOOK_EVERY,
  });

export const revisionsQuery = (id: string) =>
  queryOptions({
    queryKey: ["report", id, "revisions"],
    queryFn: ({ signal }) => api.listReportRevisions(id, { limit: 200 }, { signal }),
  });

/** A revision never changes. */
export const revisionQuery = (id: string, number: number) =>
  queryOptions({
    queryKey: ["report", id, "revisions", number],
    queryFn: ({ signal }) => api.getReportRevision(id, number, { signal }),
    staleTime: Infinity,
  });
