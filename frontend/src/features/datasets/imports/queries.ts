import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import { isOpen } from "./import-text";

export const uploadsQuery = queryOptions({
  queryKey: ["dataset-uploads"],
  queryFn: ({ signal }) => api.listDatasetUploads({ limit: 200 }, { signal }),
});

/** Polled every second while one is in progress. */
export const importsQuery = queryOptions({
  queryKey: ["dataset-imports"],
  queryFn: ({ signal }) => api.listDatasetImports({ limit: 50 }, { signal }),
  refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? 1000 : false),
});

export const sourcesQuery = queryOptions({
  queryKey: ["dataset-sources"],
  queryFn: ({ signal }) => api.getDatasetSources({ signal }),
});
