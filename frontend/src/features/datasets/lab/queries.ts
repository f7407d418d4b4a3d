import { queryOptions } from "@tanstack/react-query";
import { lab } from "@/api/client";
import { isOpen } from "./lab-text";

export const labJobsQuery = (datasetId: string, version: number) =>
  queryOptions({
    queryKey: ["datasets", datasetId, "lab", version],
    queryFn: ({ signal }) => lab.list(datasetId, version, signal),
    refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? 1000 : false),
  });

export const labJobQuery = (id: string) =>
  queryOptions({
    queryKey: ["lab-jobs", id],
    queryFn: ({ signal }) => lab.read(id, signal),
    staleTime: Infinity, // asked for once a job is done
  });
