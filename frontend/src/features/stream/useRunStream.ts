/** The run page's one WebSocket: writes what comes into the query cache. */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { controlOf } from "@/api/events";
import type { Control, List, MetricData, Run, RunEvent } from "@/api/model";
import { type LivePoint, livePoint, needsReload } from "@/features/runs/data/points";
import { MAX_POINTS, timelineQuery } from "@/features/runs/data/queries";
import { forget, remember, withPoints } from "@/features/runs/data/recent";
import { addSteps, type StepSpans, stepSpans } from "@/features/runs/data/timeline";
import { StreamClient, type Frame, socketUrl, type StreamStatus } from "./streamClient";

/** Points of one series beyond which they are asked for again, down-sampled. */
const MOST_DRAWN = 4 * MAX_POINTS;

/** Kinds that come with every step; the list of events leaves them out. */
const EVERY_STEP = new Set(["step", "rollouts", "phase"]);

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
    return () => {
      socket.close();
      forget(runId);
    };
  }, [client, runId]);
  return stream;
}

/** Puts one frame into the cache. Exported for tests. */
export function receive(client: QueryClient, runId: string, frame: Frame): void {
  const events = (frame.events ?? []) as RunEvent[];
  const before = client.getQueryData<Run>(["run", runId]);
  const run = frame.run as Partial<Run> | undefined;
  if (run) client.setQueryData<Run>(["run", runId], known => (known ? { ...known, ...run } : known));
  if (before && run?.attempt !== undefined && run.attempt > before.attempt) {
    // What the attempt before has done after its last checkpoint no longer counts.
    void client.invalidateQueries({ queryKey: ["run", runId, "metrics"] });
  }
  const points = events.map(livePoint).filter(point => point !== null);
  if (points.length > 0) writePoints(client, runId, points, before);
  const spans = events.map(stepSpans).filter(one => one !== null);
  if (spans.length > 0) writeTimeline(client, runId, spans);
  const kinds = new Set(events.map(event => event.kind));
  for (const event of events) {
    const control = event.kind === "control" ? controlOf(event) : null;
    if (control) writeControl(client, runId, control);
  }
  if (kinds.has("rollouts")) invalidateSoon(client, runId, "rollouts", 2000);
  if (events.some(event => !EVERY_STEP.has(event.kind))) invalidateSoon(client, runId, "events", 500);
  if (kinds.has("checkpoint")) void client.invalidateQueries({ queryKey: ["run", runId, "checkpoints"] });
  if (kinds.has("control")) void client.invalidateQueries({ queryKey: ["run", runId, "targets"] });
  if (kinds.has("rubric_proposals")) void client.invalidateQueries({ queryKey: ["rewards"] });
  // The applied spec changes with applied controls; the stream does not repeat it.
  if (kinds.has("control")) void client.invalidateQueries({ queryKey: ["run", runId], exact: true });
}

function writePoints(client: QueryClient, runId: string, points: LivePoint[], run: Run | undefined): void {
  remember(runId, points);
  if (run && needsReload(points, run.attempt)) {
    void client.invalidateQueries({ queryKey: ["run", runId, "metrics"] });
    return;
  }
  for (const { queryKey } of client.getQueryCache().findAll({ queryKey: ["run", runId, "metrics"] })) {
    const [from, to, keys] = queryKey.slice(4) as [number | null, number | null, string];
    if (from !== null || to !== null) continue; // a zoomed window is history
    const drawn = client.setQueryData<MetricData>(queryKey, data =>
      data ? withPoints(client, runId, keys.split(","), data, points) : data,
    );
    // After a long while of watching, the platform thins the points out again.
    if (Object.values(drawn?.series ?? {}).some(series => series.x.length > MOST_DRAWN)) {
      void client.invalidateQueries({ queryKey });
    }
  }
  const names = client.getQueryData<{ data: { name: string }[] }>(["run", runId, "metric-names"]);
  const known = new Set(names?.data.map(one => one.name));
  if (names && points.some(point => Object.keys(point.metrics).some(name => !known.has(name)))) {
    void client.invalidateQueries({ queryKey: ["run", runId, "metric-names"] });
  }
}

function writeTimeline(client: QueryClient, runId: string, spans: StepSpans[]): void {
  client.setQueryData<StepSpans[]>(timelineQuery(runId).queryKey, known => known && addSteps(known, spans));
}

const waiting = new Map<string, number>();

/** Asks again for a part of the run, but not more often than every `wait` milliseconds, however quick the steps are. */
function invalidateSoon(client: QueryClient, runId: string, part: string, wait: number): void {
  const key = `${runId}/${part}`;
  if (waiting.has(key)) return;
  const ask = () => {
    waiting.delete(key);
    void client.invalidateQueries({ queryKey: ["run", runId, part] });
  };
  waiting.set(key, window.setTimeout(ask, wait));
}

function writeControl(client: QueryClient, runId: string, control: Control): void {
  client.setQueryData<List<Control>>(["run", runId, "controls"], list => {
    if (!list) return list;
    const others = list.data.filter(one => one.id !== control.id);
    return { ...list, data: [...others, control].sort((a, b) => b.revision - a.revision) };
  });
}
