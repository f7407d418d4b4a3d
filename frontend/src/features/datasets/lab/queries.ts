import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import { isAtWork } from "./lab-text";

export const labJobsQuery = (datasetId: string, version: number) =>
  queryOptions({
    queryKey: ["datasets", datasetId, "lab", version],
    queryFn: ({ signal }) => api.listLabJobs(datasetId, version, { limit: 50 }, { signal }),
    refetchInterval: ({ state }) => (state.data?.data.some(isAtWork) ? 1000 : false),
  });

export const labJobQuery = (id: string) =>
  queryOptions({
    queryKey: ["lab-jobs", id],
    queryFn: ({ signal }) => api.getLabJob(id, { signal }),
    staleTime: Infinity, // asked for once a job is done
  });

/** The team's judges, as its own page reads them. */
export const endpointsQuery = queryOptions({
  queryKey: ["judges"],
  queryFn: ({ signal }) => api.listJudgeEndpoints({ limit: 200 }, { signal }),
});

export const marksQuery = (job: string, threshold: number) =>
  queryOptions({
    queryKey: ["lab-jobs", job, "marks", threshold],
    queryFn: ({ signal }) => api.getLabMarks(job, { threshold }, { signal }),
    placeholderData: keepPreviousData,
  });
