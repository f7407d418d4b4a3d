import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Rehearsal } from "@/api/model";

export const isOpen = ({ state }: Pick<Rehearsal, "state">) => state === "queued" || state === "running";

/** One dry run; polled until it has ended. */
export const rehearsalQuery = (id: string) =>
  queryOptions({
    queryKey: ["rehearsals", id],
    queryFn: ({ signal }) => api.getRehearsal(id, { signal }),
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? 1000 : false),
  });
