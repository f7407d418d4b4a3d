import { queryOptions } from "@tanstack/react-query";
import { clusters } from "@/api/client";

/** Sizes change while runs come and go; the platform asks the clusters every ten seconds. */
export const clustersQuery = queryOptions({
  queryKey: ["clusters"],
  queryFn: ({ signal }) => clusters.list(signal),
  refetchInterval: 10_000,
});

export const gpuHoursQuery = queryOptions({
  queryKey: ["gpu-hours"],
  queryFn: ({ signal }) => clusters.gpuHours(signal),
  refetchInterval: 60_000,
});
