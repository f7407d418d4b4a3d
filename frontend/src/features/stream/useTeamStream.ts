/** Keeps the list of runs live. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { List, Run } from "@/api/model";
import { StreamClient, socketUrl, type StreamStatus } from "./streamClient";

export function useTeamStream(): StreamStatus {
  const client = useQueryClient();
  const [status, setStatus] = useState<StreamStatus>("connecting");
  useEffect(() => {
    const socket = new StreamClient({
      url: socketUrl("/ws/v1/team"),
      onStatus: setStatus,
      onOpen: () => void client.invalidateQueries({ queryKey: ["runs"] }),
      onFrame: frame => {
        if (frame.type !== "run") return;
        const run = frame.run as Run;
        let found = false;
        client.setQueriesData<List<Run>>({ queryKey: ["runs"] }, list => {
          if (!list) return list;
          found ||= list.data.some(one => one.id === run.id && one.state === run.state);
          return { ...list, data: list.data.map(one => (one.id === run.id ? { ...one, ...run } : one)) };
        });
        // New runs, and runs that enter or leave a filter.
        if (!found) void client.invalidateQueries({ queryKey: ["runs"] });
      },
    });
    return () => socket.close();
  }, [client]);
  return status;
}
