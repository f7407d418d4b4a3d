import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Run } from "@/api/model";
import { isLive } from "@/entities/runs/states";

/** Milliseconds after which a live run is refetched: incidents that only metrics show come with no event. */
const ANEW = 30_000;

/** The incidents of a run. The stream refetches them after events that affect them. */
export const incidentsQuery = (run: Pick<Run, "id" | "state">) =>
  queryOptions({
    queryKey: ["run", run.id, "incidents"],
    queryFn: ({ signal }) => api.listIncidents(run.id, { signal }),
    refetchInterval: isLive(run.state) ? ANEW : false,
  });
