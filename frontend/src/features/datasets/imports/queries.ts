import { queryOptions } from "@tanstack/react-query";
import { datasetImports, datasetSources, datasetUploads } from "@/api/client";
import { isOpen } from "./import-text";

export const uploadsQuery = queryOptions({
  queryKey: ["dataset-uploads"],
  queryFn: ({ signal }) => datasetUploads.list(signal),
});

/** Asked every second while one is on its way. */
export const importsQuery = queryOptions({
  queryKey: ["dataset-imports"],
  queryFn: ({ signal }) => datasetImports.list(signal),
  refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? 1000 : false),
});

export const sourcesQuery = queryOptions({
  queryKey: ["dataset-sources"],
  queryFn: ({ signal }) => datasetSources.read(signal),
});
