// @vitest-environment happy-dom
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { beforeEach, expect, it, vi } from "vitest";
import type { Metrics, Run } from "@/api/model";
import { MAX_POINTS, metricsKey } from "@/entities/runs/queries";
import { aControl } from "@/test/control";
import type { Frame } from "./streamClient";
import { receiver } from "./useRunStream";

let client: QueryClient;
let receive: (frame: Frame) => void;
const key = [...metricsKey("run_1", { x: "step" }), "reward"];
const data: Metrics = {
  x: "step",
  series: { reward: { x: [1], min: [0.1], mean: [0.1], max: [0.1], raw_count: 1, nan: [] } },
};
/** As many points as are drawn at most. */
const long = (() => {
  const x = Array.from({ length: 2 * MAX_POINTS }, (_, place) => place);
  const values = x.map(() => 0.1);
  return { x, min: values, mean: values, max: values, raw_count: x.length, nan: [] };
})();
const step = (number: number, attempt = 1) => ({
  seq: number + 10,
  kind: "step",
  step: number,
  at: "2026-11-21T06:00:00.000Z",
  attempt,
  data: { metrics: { reward: 0.2, "not/drawn": 1 }, tokens_total: 5, seconds: 1 },
});

beforeEach(() => {
  client = new QueryClient();
  receive = receiver(client, "run_1");
  client.setQueryData(["run", "run_1"], { id: "run_1", step: 1, attempt: 1, spec: {} } as unknown as Run);
  client.setQueryData(key, data);
});

it("writes steps into the drawn metrics and the run into its header", () => {
  receive({ type: "events", seq: 12, events: [step(2)], run: { step: 2, attempt: 1 } });
  const drawn = client.getQueryData<Metrics>(key);
  expect(drawn?.series.reward?.x).toEqual([1, 2]);
  expect(drawn?.series["not/drawn"]).toBeUndefined();
  expect(client.getQueryData<Run>(["run", "run_1"])).toMatchObject({ step: 2, spec: {} });
});

it("asks again for everything drawn when a new attempt repeats steps", () => {
  receive({ type: "events", seq: 12, events: [step(1, 2)], run: { step: 1, attempt: 2 } });
  expect(client.getQueryState(key)?.isInvalidated).toBe(true);
  expect(client.getQueryData<Metrics>(key)?.series.reward?.x).toEqual([1]);
});

it("asks once for fewer points, however many frames come until they are there", async () => {
  client.setQueryData(key, { ...data, series: { reward: long } });
  const asked: ((found: Metrics) => void)[] = [];
  const queryFn = () => new Promise<Metrics>(done => asked.push(done));
  const stop = new QueryObserver(client, { queryKey: key, queryFn, staleTime: Infinity }).subscribe(() => undefined);
  for (const number of [0, 1, 2])
    receive({ type: "events", seq: 5000 + number, events: [step(long.x.length + number)] });
  expect(asked).toHaveLength(1);
  asked[0]?.(data);
  await vi.waitFor(() => expect(client.getQueryData<Metrics>(key)?.series.reward?.x).toEqual([1]));
  stop();
});

it("lets go of points that nobody looks at any more, once they are too many", () => {
  const asked = vi.fn(() => Promise.resolve(data));
  const observer = new QueryObserver(client, { queryKey: key, queryFn: asked, enabled: false });
  const stop = observer.subscribe(() => undefined);
  receive({ type: "events", seq: 12, events: [step(2)] });
  expect(client.getQueryData<Metrics>(key)?.series.reward?.x).toEqual([1, 2]);
  client.setQueryData(key, { ...data, series: { reward: long } });
  receive({ type: "events", seq: 5000, events: [step(long.x.length)] });
  expect(client.getQueryState(key)).toBeUndefined();
  receive({ type: "events", seq: 5001, events: [step(long.x.length + 1)] });
  expect(observer.getCurrentResult().data?.series.reward?.x).toHaveLength(long.x.length + 1);
  expect(asked).not.toHaveBeenCalled();
  stop();
});

it("leaves a zoomed window alone", () => {
  const zoomed = [...metricsKey("run_1", { x: "step", from: 0, to: 1 }), "reward"];
  client.setQueryData(zoomed, data);
  receive({ type: "events", seq: 12, events: [step(2)] });
  expect(client.getQueryData(zoomed)).toBe(data);
});

it("replaces a control by its newer state", () => {
  const control = aControl({ id: "ctl_1", revision: 1, state: "staged" });
  client.setQueryData(["run", "run_1", "controls"], { object: "list", data: [control], has_more: false, next: null });
  const event = {
    seq: 13,
    kind: "control",
    step: 3,
    at: "",
    attempt: 1,
    data: { control: { ...control, state: "applied" } },
  };
  receive({ type: "events", seq: 13, events: [event] });
  expect(client.getQueryData(["run", "run_1", "controls"])).toMatchObject({
    data: [{ id: "ctl_1", state: "applied" }],
  });
});

it("asks again as soon as the run has a new attempt, before its first step", () => {
  receive({ type: "events", seq: 12, events: [], run: { step: 1, attempt: 2 } });
  expect(client.getQueryState(key)?.isInvalidated).toBe(true);
});

it("asks again for everything drawn although a query knew of the new attempt before the stream", () => {
  receive({ type: "events", seq: 11, events: [], run: { step: 1, attempt: 1 } });
  client.setQueryData<Run>(["run", "run_1"], run => run && { ...run, attempt: 2 });
  expect(client.getQueryState(key)?.isInvalidated).toBe(false);
  receive({ type: "events", seq: 12, events: [], run: { step: 1, attempt: 2 } });
  expect(client.getQueryState(key)?.isInvalidated).toBe(true);
});

it("asks for incidents when the run's health has changed without an event", () => {
  vi.useFakeTimers();
  receive = receiver(client, "run_2"); // no question of another test is waiting
  const key = ["run", "run_2", "incidents"];
  const isOutdated = () => {
    vi.advanceTimersByTime(1000);
    return client.getQueryState(key)?.isInvalidated;
  };
  const run = (...findings: object[]) => ({ step: 1, attempt: 1, health: { state: "ok", findings } });
  client.setQueryData(["run", "run_2"], { id: "run_2", ...run() });
  client.setQueryData(key, { object: "list", data: [], open: 0 });
  receive({ type: "events", events: [], run: run() });
  expect(isOutdated()).toBe(false);
  receive({
    type: "events",
    events: [],
    run: run({ guard: "stuck", since: 1, message: "No progress for 50 seconds." }),
  });
  expect(isOutdated()).toBe(true);
  client.setQueryData(key, { object: "list", data: [], open: 1 });
  receive({
    type: "events",
    events: [],
    run: run({ guard: "stuck", since: 1, message: "No progress for 60 seconds." }),
  });
  expect(isOutdated()).toBe(false);
  vi.useRealTimers();
});

it("asks for incidents at values that are no numbers and at rescorings, and at no other step", () => {
  vi.useFakeTimers();
  receive = receiver(client, "run_3");
  const key = ["run", "run_3", "incidents"];
  const outdates = (metrics: object) => {
    client.setQueryData(key, { object: "list", data: [], open: 0 });
    receive({ type: "events", events: [{ ...step(2), data: { metrics, tokens_total: 5, seconds: 1 } }] });
    vi.advanceTimersByTime(1000);
    return client.getQueryState(key)?.isInvalidated;
  };
  expect(outdates({ reward: 0.5 })).toBe(false);
  expect(outdates({ reward: "NaN" })).toBe(true);
  expect(outdates({ "rollout_corr/cause/template": 0.3 })).toBe(true);
  vi.useRealTimers();
});
