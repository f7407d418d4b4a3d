// @vitest-environment happy-dom
/** Answers of queries and frames of the stream that overtake one another. */
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { beforeEach, expect, it, vi } from "vitest";
import type { Control, List, Metrics, Run } from "@/api/model";
import {
  checkpointsQuery,
  controlsQuery,
  metricsQuery,
  runQuery,
  runsQuery,
  timelineQuery,
} from "@/entities/runs/queries";
import { aControl } from "@/test/control";
import { deferred } from "@/test/deferred";
import { receiver } from "./useRunStream";
import { receiveRun } from "./useTeamStream";

const BARE = { id: "run_1", state: "running", attempt: 1, revision: 3, step: 7 } as Run;
const RUN = { ...BARE, spec: { name: "x" } } as unknown as Run;
/** A run as a frame reports it: without its specs. */
const frameRun = (changes: Partial<Run>): Partial<Run> => ({ ...BARE, ...changes });
const list = <T>(...data: T[]): List<T> => ({ object: "list", data, has_more: false, next: null });

let client: QueryClient;
let seq: number;
/** Requests that wait for their answer, oldest first. */
let requests: ((body: unknown) => void)[];

/** Lets everything that waits for an answer continue. */
const settle = () => vi.waitFor(() => expect(client.isFetching()).toBe(0));
const sent = (count: number) => vi.waitFor(() => expect(requests).toHaveLength(count));

function tell(events: { kind: string; data: unknown; step?: number; attempt?: number }[], run?: Partial<Run>): void {
  seq += 1;
  const at = "2026-11-21T06:00:00.000Z";
  const told = events.map((event, index) => ({ step: 8, attempt: 1, at, seq: seq * 10 + index, ...event }));
  receive({ type: "events", seq: seq * 10 + 9, events: told, run });
}
const tellControl = (control: Control) => tell([{ kind: "control", data: { control } }]);
let receive: ReturnType<typeof receiver>;

beforeEach(() => {
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  receive = receiver(client, "run_1");
  seq = 0;
  requests = [];
  vi.stubGlobal("fetch", () => {
    const { promise, resolve } = deferred<Response>();
    requests.push(body => resolve(new Response(JSON.stringify(body))));
    return promise;
  });
});

/** What is cached of `key`. */
const cached = <T>(key: readonly unknown[]) => client.getQueryData<T>(key);
const states = () => cached<List<Control>>(["run", "run_1", "controls"])?.data.map(one => [one.id, one.state]);

it("keeps a control settled that a slow answer still calls applied", async () => {
  void client.prefetchQuery(controlsQuery("run_1"));
  await sent(1);
  tellControl(aControl({ state: "settled", settled_step: 8 }));
  requests[0]?.(list(aControl({ state: "applied" })));
  await settle();
  expect(states()).toEqual([["ctl_1", "settled"]]);
});

it("keeps a control that a slow answer does not know yet, newest first", async () => {
  void client.prefetchQuery(controlsQuery("run_1"));
  await sent(1);
  tellControl(aControl({ id: "ctl_2", revision: 4, state: "staged" }));
  requests[0]?.(list(aControl({ state: "applied" })));
  await settle();
  expect(states()).toEqual([
    ["ctl_2", "staged"],
    ["ctl_1", "applied"],
  ]);
});

it("takes an answer that was asked for after the update, though its state is an earlier one", async () => {
  void client.prefetchQuery(controlsQuery("run_1"));
  await sent(1);
  tellControl(aControl({ state: "applied" }));
  requests[0]?.(list(aControl({ state: "staged" })));
  await settle();
  expect(states()).toEqual([["ctl_1", "applied"]]);
  // A new attempt starts before the step of the control: it is staged again.
  void client.refetchQueries({ queryKey: ["run", "run_1", "controls"] });
  await sent(2);
  requests[1]?.(list(aControl({ state: "staged", apply_at: 4 })));
  await settle();
  expect(states()).toEqual([["ctl_1", "staged"]]);
});

it("keeps a run succeeded that a slow answer still calls running, with the specs of the answer", async () => {
  void client.prefetchQuery(runQuery("run_1"));
  await sent(1);
  tell([], frameRun({ state: "succeeded" }));
  requests[0]?.(RUN);
  await settle();
  expect(cached<Run>(["run", "run_1"])).toMatchObject({ state: "succeeded", spec: { name: "x" } });
});

it("takes an answer whose numbers are newer than a frame that came before it", async () => {
  void client.prefetchQuery(runQuery("run_1"));
  await sent(1);
  tell([], frameRun({ state: "paused" }));
  requests[0]?.({ ...RUN, step: 8 });
  await settle();
  expect(cached<Run>(["run", "run_1"])).toMatchObject({ state: "running", step: 8 });
});

it("leaves a frame out whose numbers are older than what is known", () => {
  client.setQueryData(["run", "run_1"], { ...RUN, attempt: 2, step: 4 });
  tell([], frameRun({ state: "starting", step: 9 }));
  expect(cached<Run>(["run", "run_1"])).toMatchObject({ state: "running", attempt: 2, step: 4 });
});

it("keeps a run in the list as the team's stream told of it", async () => {
  const leave = new QueryObserver(client, runsQuery()).subscribe(() => {});
  await sent(1);
  receiveRun(client, { ...RUN, state: "failed" });
  requests[0]?.(list(RUN, { ...RUN, id: "run_2" }));
  await sent(2); // the list was outdated
  expect(cached<List<Run>>(runsQuery().queryKey)?.data.map(one => [one.id, one.state])).toEqual([
    ["run_1", "failed"],
    ["run_2", "running"],
  ]);
  requests[1]?.(list({ ...RUN, state: "failed" }));
  await settle();
  leave();
});

it("reads checkpoints again when one was saved while the first answer was on its way", async () => {
  const leave = new QueryObserver(client, checkpointsQuery("run_1")).subscribe(() => {});
  await sent(1);
  tell([{ kind: "checkpoint", data: {} }]);
  requests[0]?.(list());
  await sent(2);
  requests[1]?.(list({ id: "ckpt_1" }));
  await settle();
  leave();
  expect(cached<List<unknown>>(checkpointsQuery("run_1").queryKey)?.data).toEqual([{ id: "ckpt_1" }]);
});

const series = (...x: number[]) => ({ x, min: x, mean: x, max: x, raw_count: x.length, nan: [] });
const point = (step: number, attempt = 1) => ({ kind: "step", step, attempt, data: { metrics: { reward: step } } });

it("adds to a late answer the points that came while it was on its way", async () => {
  const query = metricsQuery("run_1", ["reward"], { x: "step" });
  void client.prefetchQuery(query);
  await sent(1);
  tell([point(2), point(3)]);
  requests[0]?.({ x: "step", series: { reward: series(1, 2) } });
  await settle();
  expect(cached<Metrics>(query.queryKey)?.series.reward?.x).toEqual([1, 2, 3]);
});

it("adds only points of the newest attempt", async () => {
  const query = metricsQuery("run_1", ["reward"], { x: "step" });
  void client.prefetchQuery(query);
  await sent(1);
  tell([point(2), point(3)]);
  tell([point(2, 2)]);
  requests[0]?.({ x: "step", series: { reward: series(1) } });
  await settle();
  expect(cached<Metrics>(query.queryKey)?.series.reward?.x).toEqual([1, 2]);
});

it("keeps the spans of a step that a slow answer does not know yet", async () => {
  const timeline = [{ lane: "learner", phase: "learn", start: 1, end: 2 }];
  void client.prefetchQuery(timelineQuery("run_1"));
  await sent(1);
  tell([{ kind: "step", step: 8, data: { metrics: {}, timeline } }]);
  requests[0]?.(list({ kind: "step", step: 7, attempt: 1, data: { timeline } }));
  await settle();
  expect(cached<{ step: number }[]>(timelineQuery("run_1").queryKey)?.map(one => one.step)).toEqual([7, 8]);
});
