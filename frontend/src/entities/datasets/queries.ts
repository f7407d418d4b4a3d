import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { RowQuery } from "@/api/model";

export const datasetsQuery = queryOptions({
  queryKey: ["datasets"],
  queryFn: ({ signal }) => api.listDatasets({ limit: 200 }, { signal }),
});

/** Datasets of other teams that this team reads. */
export const sharedDatasetsQuery = queryOptions({
  queryKey: ["datasets", "shared"],
  queryFn: ({ signal }) => api.listSharedDatasets({ limit: 200 }, { signal }),
});

/** The team's storage use. Refetched with the datasets. */
export const usageQuery = queryOptions({
  queryKey: ["datasets", "usage"],
  queryFn: ({ signal }) => api.getDatasetUsage({ signal }),
});

export const datasetQuery = (id: string) =>
  queryOptions({
    queryKey: ["datasets", id],
    queryFn: ({ signal }) => api.getDataset(id, { signal }),
  });

export const rowsQuery = (id: string, version: number) =>
  infiniteQueryOptions({
    queryKey: ["datasets", id, "rows", version],
    queryFn: ({ signal, pageParam }) =>
      api.listDatasetRows(id, version, { limit: 50, after: pageParam ?? undefined }, { signal }),
    initialPageParam: null as number | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
    staleTime: Infinity, // versions never change
  });

/** Rows of a window of a version. */
export const PAGE = 100;

/** Kinds of queries, third in their keys, whose answers hold notes of rows. */
export const WITH_NOTES = ["window", "found", "row", "values"] as const;

export const notesQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ["datasets", id, "notes", version],
    queryFn: ({ signal }) => api.listRowNotes(id, version, { limit: 200 }, { signal }),
  });

/** Values that filters offer. */
export const rowValuesQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ["datasets", id, "values", version],
    queryFn: ({ signal }) => api.listDatasetRowValues(id, version, { signal }),
    staleTime: 60_000,
  });

/** The window of that number over all rows of a version. */
export const rowWindowQuery = (id: string, version: number, number: number) =>
  queryOptions({
    queryKey: ["datasets", id, "window", version, number],
    queryFn: ({ signal }) =>
      api.searchDatasetRows(
        id,
        version,
        { query: {}, after: number > 0 ? number * PAGE - 1 : null, limit: PAGE },
        { signal },
      ),
    staleTime: 60_000, // versions never change; what is known about their rows does
    refetchOnWindowFocus: false,
  });

/** Results of a query, page by page. While an index is built, the first page is refetched. */
export const foundRowsQuery = (id: string, version: number, query: RowQuery) =>
  infiniteQueryOptions({
    queryKey: ["datasets", id, "found", version, query],
    queryFn: ({ signal, pageParam }) =>
      api.searchDatasetRows(id, version, { query, after: pageParam, limit: PAGE }, { signal }),
    initialPageParam: null as number | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
    refetchInterval: ({ state }) =>
      state.data?.pages.length === 1 && state.data.pages[0]?.index.state === "building" ? 3_000 : false,
    staleTime: 60_000,
    refetchOnWindowFocus: false, // all pages would be requested, one after the other
  });

export const oneRowQuery = (id: string, version: number, index: number) =>
  queryOptions({
    queryKey: ["datasets", id, "row", version, index],
    queryFn: ({ signal }) => api.getDatasetRow(id, version, index, { signal }),
  });

export const rowHistoryQuery = (id: string, version: number, index: number) =>
  queryOptions({
    queryKey: ["datasets", id, "row", version, index, "history"],
    queryFn: ({ signal }) => api.getRowHistory(id, version, index, { signal }),
    staleTime: 10_000,
  });

export const diffQuery = (id: string, version: number, against: number) =>
  infiniteQueryOptions({
    queryKey: ["datasets", id, "diff", version, against],
    queryFn: ({ signal, pageParam }) =>
      api.diffDatasetVersions(id, version, { against, limit: 50, after: pageParam ?? undefined }, { signal }),
    initialPageParam: null as number | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
    staleTime: Infinity, // versions never change
  });

export const mappingsQuery = queryOptions({
  queryKey: ["dataset-mappings"],
  queryFn: ({ signal }) => api.listDatasetMappings({ limit: 200 }, { signal }),
});
