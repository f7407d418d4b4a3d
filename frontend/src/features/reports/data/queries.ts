import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { reports } from "@/api/client";

/** How often somebody who reads sees what others have saved, in milliseconds. */
const LOOK_EVERY = 20_000;

export const reportsQuery = infiniteQueryOptions({
  queryKey: ["reports"],
  queryFn: ({ signal, pageParam }) => reports.list(pageParam, signal),
  initialPageParam: null as string | null,
  getNextPageParam: last => (last.has_more ? last.next : null),
});

export const reportQuery = (id: string) =>
  queryOptions({
    queryKey: ["report", id],
    queryFn: ({ signal }) => reports.read(id, signal),
    refetchInterval: LOOK_EVERY,
  });

export const revisionsQuery = (id: string) =>
  queryOptions({ queryKey: ["report", id, "revisions"], queryFn: ({ signal }) => reports.revisions(id, signal) });

/** A revision never changes. */
export const revisionQuery = (id: string, number: number) =>
  queryOptions({
    queryKey: ["report", id, "revisions", number],
    queryFn: ({ signal }) => reports.revision(id, number, signal),
    staleTime: Infinity,
  });
