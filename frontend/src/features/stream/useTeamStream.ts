/** Keeps the list of runs live. */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { List, Run } from "@/api/model";
import { runTopic, withUpdate } from "@/entities/runs/merge";
import { outdate, recordUpdate } from "@/lib/updates";
import { StreamClient, socketUrl, type StreamStatus } from "./streamClient";

export function useTeamStream(): StreamStatus {
  const client = useQueryClient();
  const [status, setStatus] = useState<StreamStatus>("connecting");
  useEffect(() => {
    const socket = new StreamClient({
      url: socketUrl("/ws/v1/team"),
      onStatus: setStatus,
      onOpen: () => outdate(client, { queryKey: ["runs"] }),
      onFrame: frame => {
        if (frame.type !== "run") return;
        receiveRun(client, frame.run as Run);
      },
    });
    return () => socket.close();
  }, [client]);
  return status;
}

/** Takes one run into the cached lists. Exported for tests. */
export function receiveRun(client: QueryClient, run: Run): void {
  recordUpdate(runTopic(run.id), run);
  let found = false;
  client.setQueriesData<List<Run>>({ queryKey: ["runs"] }, list => {
    if (!list) return list;
    found ||= list.data.some(one => one.id === run.id && one.state === run.state);
    return { ...list, data: list.data.map(one => (one.id === run.id ? withUpdate(one, run) : one)) };
  });
  // New runs, and runs that enter or leave a filter.
  if (!found) outdate(client, { queryKey: ["runs"] });
}
