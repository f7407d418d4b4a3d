/** The run page's one WebSocket: writes what comes into the query cache. */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Control, List, MetricData, Run, RunEvent } from "@/api/model";
import { type LivePoint, livePoint, mergePoints, needsReload } from "@/features/charts/merge";
import { StreamClient, type Frame, socketUrl, type StreamStatus } from "./streamClient";

export interface RunStream {
  status: StreamStatus;
  /** When the last frame or opening was, in milliseconds. */
  heardAt: number | null;
}

export function useRunStream(runId: string): RunStream {
  const client = useQueryClient();
  const [stream, setStream] = useState<RunStream>({ status: "connecting", heardAt: null });
  useEffect(() => {
    const hear = (status?: StreamStatus) =>
      setStream(previous => ({ status: status ?? previous.status, heardAt: Date.now() }));
    const socket = new StreamClient({
      url: socketUrl(`/ws/v1/runs/${runId}`),
      onStatus: status => (status === "live" ? hear(status) : setStream(previous => ({ ...previous, status }))),
      onOpen: resumed => {
        // Events that came between the first queries and this opening are in nobody's hands: ask again.
        if (!resumed) void client.invalidateQueries({ queryKey: ["run", runId] });
      },
      onFrame: frame => {
        hear();
        if (frame.type === "events") receive(client, runId, frame);
      },
    });
    return () => socket.close();
  }, [client, runId]);
  return stream;
}

/** Puts one frame into the cache. Exported for tests. */
export function receive(client: QueryClient, runId: string, frame: Frame): void {
  const events = (frame.events ?? []) as RunEvent[];
  const before = client.getQueryData<Run>(["run", runId]);
  const run = frame.run as Partial<Run> | undefined;
  if (run) client.setQueryData<Run>(["run", runId], known => (known ? { ...known, ...run } : known));
  const points = events.map(livePoint).filter(point => point !== null);
  if (points.length > 0) writePoints(client, runId, points, before);
  const kinds = new Set(events.map(event => event.kind));
  for (const event of events) if (event.kind === "control") writeControl(client, runId, event.data.control as Control);
  const stale: string[] = [];
  if (kinds.has("control")) stale.push("targets");
  if (kinds.has("rollouts")) stale.push("rollouts");
  if (kinds.has("checkpoint")) stale.push("checkpoints");
  if (events.length > 0) stale.push("events");
  for (const part of stale) void client.invalidateQueries({ queryKey: ["run", runId, part] });
  // The applied spec changes with applied controls; the stream does not repeat it.
  if (kinds.has("control")) void client.invalidateQueries({ queryKey: ["run", runId], exact: true });
}

function writePoints(client: QueryClient, runId: string, points: LivePoint[], run: Run | undefined): void {
  if (run && needsReload(points, run.attempt)) {
    void client.invalidateQueries({ queryKey: ["run", runId, "metrics"] });
    return;
  }
  // The platform counts time from the same moment.
  const started = run?.started_at ?? run?.created_at;
  const origin = started ? Date.parse(started) : 0;
  const metrics = client.getQueryCache().findAll({ queryKey: ["run", runId, "metrics"] });
  for (const query of metrics) {
    const [, , , , from, to, keys] = query.queryKey as [
      string,
      string,
      string,
      string,
      number | null,
      number | null,
      string,
    ];
    if (from !== null || to !== null) continue; // a zoomed window is history
    const wanted = new Set(keys.split(","));
    const own = points.map(point => ({
      ...point,
      metrics: Object.fromEntries(Object.entries(point.metrics).filter(([name]) => wanted.has(name))),
    }));
    client.setQueryData<MetricData>(query.queryKey, data => (data ? mergePoints(data, own, origin) : data));
  }
  const names = client.getQueryData<{ data: { name: string }[] }>(["run", runId, "metric-names"]);
  const known = new Set(names?.data.map(one => one.name));
  if (names && points.some(point => Object.keys(point.metrics).some(name => !known.has(name)))) {
    void client.invalidateQueries({ queryKey: ["run", runId, "metric-names"] });
  }
}

function writeControl(client: QueryClient, runId: string, control: Control): void {
  client.setQueryData<List<Control>>(["run", runId, "controls"], list => {
    if (!list) return list;
    const others = list.data.filter(one => one.id !== control.id);
    return { ...list, data: [...others, control].sort((a, b) => b.revision - a.revision) };
  });
}
