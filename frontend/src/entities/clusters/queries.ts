import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";

/** Sizes change as runs start and end. The platform queries the clusters every ten seconds. */
export const clustersQuery = queryOptions({
  queryKey: ["clusters"],
  queryFn: ({ signal }) => api.listClusters({ signal }),
  refetchInterval: 10_000,
});

export const gpuHoursQuery = queryOptions({
  queryKey: ["gpu-hours"],
  queryFn: ({ signal }) => api.getTeamGpuHours({ signal }),
  refetchInterval: 60_000,
});
