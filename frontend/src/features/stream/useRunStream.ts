/** The run page's one WebSocket: writes what comes into the query cache, as fast as the page can draw it. */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { controlOf } from "@/api/events";
import type { Metrics, Run, RunEvent } from "@/api/model";
import { type RunUpdate, writeControl, writeRun } from "@/entities/runs/merge";
import { type LivePoint, livePoint, needsReload, pointTopic, withPoints } from "@/entities/runs/points";
import { MAX_POINTS, timelineQuery } from "@/entities/runs/queries";
import { addSteps, spansTopic, type StepSpans, stepSpans } from "@/entities/runs/timeline";
import { outdate, recordUpdate } from "@/lib/updates";
import type { RunStream } from "./lostSince";
import { paced } from "./pace";
import { StreamClient, type Frame, socketUrl, type StreamStatus } from "./streamClient";

/** Points of one series beyond which they are requested again, down-sampled. */
const MOST_DRAWN = 2 * MAX_POINTS;

/** Kinds that come with every step; the list of events leaves them out. */
const EVERY_STEP = new Set(["step", "rollouts", "traces", "phase", "pass_rates"]);

export function useRunStream(runId: string): RunStream {
  const client = useQueryClient();
  const [stream, setStream] = useState<RunStream>({ status: "connecting", heardAt: null });
  useEffect(() => {
    const hear = (status?: StreamStatus) =>
      setStream(previous => ({ status: status ?? previous.status, heardAt: Date.now() }));
    const receive = receiver(client, runId);
    const pace = paced<Frame>(frames => {
      hear();
      for (const frame of frames) if (frame.type === "events") receive(frame);
    });
    const socket = new StreamClient({
      url: socketUrl(`/ws/v1/runs/${runId}`),
      onStatus: status => (status === "live" ? hear(status) : setStream(previous => ({ ...previous, status }))),
      onPing: hear,
      onOpen: resumed => {
        // Events that came between the first queries and this opening are in nobody's hands: ask again.
        if (!resumed) outdate(client, { queryKey: ["run", runId] });
      },
      onFrame: pace.add,
    });
    return () => {
      pace.stop();
      socket.close();
    };
  }, [client, runId]);
  return stream;
}

/** Takes the frames of one run into the cache. Exported for tests. */
export function receiver(client: QueryClient, runId: string): (frame: Frame) => void {
  /** The latest attempt in the stream. A query may know of a newer one earlier. */
  let attempt: number | undefined;
  return frame => {
    const run = frame.run as RunUpdate | undefined;
    const before = attempt ?? client.getQueryData<Run>(["run", runId])?.attempt;
    if (run) {
      const found = findingsOf(client.getQueryData<Run>(["run", runId]));
      writeRun(client, runId, run);
      // That a run is stuck comes with no event: there is nobody who would tell it.
      if (run.health && findingsOf(run) !== found) invalidateSoon(client, runId, "incidents", 1000);
      attempt = run.attempt ?? attempt;
    }
    // What the attempt before has done after its last checkpoint no longer counts.
    const superseded = before !== undefined && (run?.attempt ?? 0) > before;
    if (superseded) outdate(client, { queryKey: ["run", runId, "metrics"] });
    take(client, runId, (frame.events ?? []) as RunEvent[], before);
  };
}

/** Whether an incident may be told from metrics alone: from one that is no number, or from a rescoring. */
const mayTell = ({ metrics }: LivePoint) =>
  Object.entries(metrics).some(([name, value]) => !Number.isFinite(value) || name.startsWith("rollout_corr/cause/"));

/** What a run's health objects to, and since when, to compare. */
const findingsOf = (run: Pick<RunUpdate, "health"> | undefined) =>
  run?.health?.findings.map(({ guard, since }) => `${guard} ${since}`).join("\n");

function take(client: QueryClient, runId: string, events: RunEvent[], attempt: number | undefined): void {
  const points = events.map(livePoint).filter(point => point !== null);
  if (points.length > 0) writePoints(client, runId, points, attempt);
  const spans = events.map(stepSpans).filter(one => one !== null);
  if (spans.length > 0) writeTimeline(client, runId, spans);
  const kinds = new Set(events.map(event => event.kind));
  for (const event of events) {
    const control = event.kind === "control" ? controlOf(event) : null;
    if (control) writeControl(client, runId, control);
  }
  if (kinds.has("rollouts") || kinds.has("traces")) invalidateSoon(client, runId, "rollouts", 2000);
  if (events.some(event => !EVERY_STEP.has(event.kind))) invalidateSoon(client, runId, "events", 500);
  const isTold = ["alert", "state", "control"].some(kind => kinds.has(kind));
  if (isTold || points.some(mayTell)) invalidateSoon(client, runId, "incidents", 1000);
  if (kinds.has("checkpoint")) outdate(client, { queryKey: ["run", runId, "checkpoints"] });
  if (kinds.has("control")) outdate(client, { queryKey: ["run", runId, "targets"] });
  if (kinds.has("pass_rates") || kinds.has("control")) invalidateSoon(client, runId, "curriculum", 500);
  if (kinds.has("rubric_proposals")) outdate(client, { queryKey: ["rewards"] });
  // The applied spec changes with applied controls; the stream does not repeat it.
  if (kinds.has("control")) outdate(client, { queryKey: ["run", runId], exact: true });
}

function writePoints(client: QueryClient, runId: string, points: LivePoint[], attempt: number | undefined): void {
  for (const point of points) recordUpdate(pointTopic(runId), point);
  if (attempt !== undefined && needsReload(points, attempt)) {
    outdate(client, { queryKey: ["run", runId, "metrics"] });
    return;
  }
  for (const query of client.getQueryCache().findAll({ queryKey: ["run", runId, "metrics"] })) {
    const { queryKey } = query;
    const [from, to, keys] = queryKey.slice(4) as [number | null, number | null, string];
    if (from !== null || to !== null) continue; // a zoomed window is history
    const drawn = client.setQueryData<Metrics>(queryKey, data =>
      data ? withPoints(client, runId, keys.split(","), data, points) : data,
    );
    // After a long while of watching, the platform thins the points out again.
    // An answer under way is waited for: asked again with each frame, it would never come, and the points would grow.
    const isTooLong = Object.values(drawn?.series ?? {}).some(series => series.x.length > MOST_DRAWN);
    if (!isTooLong || query.state.fetchStatus === "fetching") continue;
    // What nobody looks at any more is not asked for again, and would grow with each step.
    if (query.isActive()) outdate(client, { queryKey });
    else client.removeQueries({ queryKey, exact: true });
  }
  const names = client.getQueryData<{ name: string }[]>(["run", runId, "metric-names"]);
  const known = new Set(names?.map(one => one.name));
  if (names && points.some(point => Object.keys(point.metrics).some(name => !known.has(name)))) {
    outdate(client, { queryKey: ["run", runId, "metric-names"] });
  }
}

function writeTimeline(client: QueryClient, runId: string, spans: StepSpans[]): void {
  for (const one of spans) recordUpdate(spansTopic(runId), one);
  client.setQueryData<StepSpans[]>(timelineQuery(runId).queryKey, known => known && addSteps(known, spans));
}

const waiting = new Map<string, number>();

/** Asks again for a part of the run, but not more often than every `wait` milliseconds, however quick the steps are. */
function invalidateSoon(client: QueryClient, runId: string, part: string, wait: number): void {
  const key = `${runId}/${part}`;
  if (waiting.has(key)) return;
  const ask = () => {
    waiting.delete(key);
    outdate(client, { queryKey: ["run", runId, part] });
  };
  waiting.set(key, window.setTimeout(ask, wait));
}
