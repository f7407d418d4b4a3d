import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Goldilocks, Profile } from "@/api/model";

export const isOpen = ({ state }: Pick<Profile, "state">) => state === "queued" || state === "running";

/** The newest profiles of a version. */
export const profilesQuery = (dataset: string, version: number) =>
  queryOptions({
    queryKey: ["datasets", dataset, "versions", version, "profiles"],
    queryFn: ({ signal }) => api.listProfiles(dataset, version, { limit: 50 }, { signal }),
  });

/** People's verdicts on the gold answers of a profile's version. */
export const reviewQuery = (id: string) =>
  queryOptions({
    queryKey: ["profiles", id, "review"],
    queryFn: ({ signal }) => api.getReview(id, { signal }),
  });

/** One profile; polled until it has ended. */
export const profileQuery = (id: string) =>
  queryOptions({
    queryKey: ["profiles", id],
    queryFn: ({ signal }) => api.getProfile(id, { signal }),
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? 1000 : false),
  });

export const isTrying = ({ state }: Pick<Goldilocks, "state">) => state === "first" || state === "second";

/** The newest Goldilocks jobs of a version; polled until all have ended. */
export const goldilocksQuery = (dataset: string, version: number) =>
  queryOptions({
    queryKey: ["datasets", dataset, "versions", version, "goldilocks"],
    queryFn: ({ signal }) => api.listGoldilocks(dataset, version, { limit: 20 }, { signal }),
    refetchInterval: ({ state }) => (state.data?.data.some(isTrying) ? 1000 : false),
  });
