import { queryOptions } from "@tanstack/react-query";
import { datasetUploads } from "@/api/client";

export const uploadsQuery = queryOptions({
  queryKey: ["dataset-uploads"],
  queryFn: ({ signal }) => datasetUploads.list(signal),
});
