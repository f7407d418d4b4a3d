import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { datasets } from "@/api/client";

export const datasetsQuery = queryOptions({
  queryKey: ["datasets"],
  queryFn: ({ signal }) => datasets.list(signal),
});

export const datasetQuery = (id: string) =>
  queryOptions({
    queryKey: ["datasets", id],
    queryFn: ({ signal }) => datasets.read(id, signal),
  });

export const rowsQuery = (id: string, version: number) =>
  infiniteQueryOptions({
    queryKey: ["datasets", id, "rows", version],
    queryFn: ({ signal, pageParam }) =>
      datasets.rows(id, version, { limit: 50, ...(pageParam === null ? {} : { after: pageParam }) }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
    staleTime: Infinity, // versions never change
  });

export const diffQuery = (id: string, version: number, against: number) =>
  infiniteQueryOptions({
    queryKey: ["datasets", id, "diff", version, against],
    queryFn: ({ signal, pageParam }) =>
      datasets.diff(id, version, { against, limit: 50, ...(pageParam === null ? {} : { after: pageParam }) }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
    staleTime: Infinity, // versions never change
  });
