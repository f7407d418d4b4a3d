import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { get } from "@/api/http";
import type { Dataset, Json, List } from "@/api/model";

export const datasetsQuery = queryOptions({
  queryKey: ["datasets"],
  queryFn: ({ signal }) => get<List<Dataset>>("/datasets", { limit: 100 }, signal),
});

export const datasetQuery = (id: string) =>
  queryOptions({
    queryKey: ["datasets", id],
    queryFn: ({ signal }) => get<Dataset>(`/datasets/${id}`, undefined, signal),
  });

export interface Row {
  index: number;
  prompt: string;
  answer: string | null;
  row: Record<string, Json>;
}

export const rowsQuery = (id: string, version: number) =>
  infiniteQueryOptions({
    queryKey: ["datasets", id, "rows", version],
    queryFn: ({ signal, pageParam }) =>
      get<List<Row>>(`/datasets/${id}/versions/${version}/rows`, { limit: 50, after: pageParam ?? undefined }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
    staleTime: Infinity, // versions never change
  });
