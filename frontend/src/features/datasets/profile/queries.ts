import { queryOptions } from "@tanstack/react-query";
import { profiles } from "@/api/client";
import type { Profile } from "@/api/model";

export const isOpen = ({ state }: Pick<Profile, "state">) => state === "queued" || state === "running";

/** The newest profiles of a version. */
export const profilesQuery = (dataset: string, version: number) =>
  queryOptions({
    queryKey: ["datasets", dataset, "versions", version, "profiles"],
    queryFn: ({ signal }) => profiles.list(dataset, version, signal),
  });

/** What people have said of the golds of a profile's version. */
export const reviewQuery = (id: string) =>
  queryOptions({
    queryKey: ["profiles", id, "review"],
    queryFn: ({ signal }) => profiles.review(id, signal),
  });

/** One profile; asked for again and again until it has ended. */
export const profileQuery = (id: string) =>
  queryOptions({
    queryKey: ["profiles", id],
    queryFn: ({ signal }) => profiles.read(id, signal),
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? 1000 : false),
  });
