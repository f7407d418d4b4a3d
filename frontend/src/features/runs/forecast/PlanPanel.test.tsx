import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ModePlan } from "@/api/model";
import { renderWith } from "@/test/render";
import { fastest, ownGpus, stepTime } from "./plan";
import { PlanPanel } from "./PlanPanel";

const mode = (name: ModePlan["mode"], step: number, split: [number, number]): ModePlan => ({
  mode: name,
  max_staleness: 0,
  staleness: 0,
  rollout_gpus: split[0],
  learner_gpus: split[1],
  rollout_workers: split[0],
  learner_ranks: split[1],
  unused_gpus: 0,
  step_seconds: step,
  total_seconds: step * 100,
  generate_seconds: step * 0.75,
  learn_seconds: step * 0.5,
  load_seconds: 0,
  engine_idle_share: 0.25,
  learner_idle_share: 0.5,
  tokens_per_s: 1000,
  gpu_hours: 12.345,
  cost: null,
});
const PLAN = {
  gpus: 2,
  source: "the run 'first'",
  run: "run_1",
  mean_tokens: 100,
  current: mode("sync", 42, [1, 1]),
  modes: [mode("sync", 42, [3, 5]), mode("async", 12.5, [6, 2])],
};
const requests: { url: string; body: { spec: unknown; gpus: number } }[] = [];
let answer: () => Response;
const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

beforeEach(() => {
  requests.length = 0;
  answer = () => json(200, PLAN);
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    requests.push({ url, body: JSON.parse(init.body as string) as { spec: unknown; gpus: number } });
    return Promise.resolve(answer());
  });
});
afterEach(() => vi.unstubAllGlobals());

it("shows what the spec will take and the best split of each mode", async () => {
  renderWith(<PlanPanel spec={{ name: "x" }} valid />);
  expect(await screen.findByText("1 h 10 min")).toBeTruthy();
  expect(screen.getByText("From the run 'first', without evaluations and checkpoints.")).toBeTruthy();
  expect(screen.getByText("12.3 h")).toBeTruthy();
  const rows = within(screen.getByRole("table", { name: "Best split of 2 GPUs" })).getAllByRole("row");
  expect(rows.map(row => row.textContent)).toEqual([
    "ModeSplitStepIdle",
    "sync3 + 542 s25 % / 50 %",
    "async6 + 213 s25 % / 50 %",
  ]);
  expect(rows[2]?.hasAttribute("data-best")).toBe(true);
  expect(requests).toEqual([{ url: "/api/v1/spec/plan", body: { spec: { name: "x" }, gpus: 2 } }]);
});

it("asks again for another number of GPUs", async () => {
  renderWith(<PlanPanel spec={{}} valid />);
  const input = await screen.findByLabelText("GPUs to split");
  await userEvent.clear(input);
  await userEvent.type(input, "64");
  await vi.waitFor(() => expect(requests.at(-1)?.body.gpus).toBe(64), 3000);
});

it("asks nothing while the spec has faults", () => {
  renderWith(<PlanPanel spec={{}} valid={false} />);
  expect(screen.getByText("Available once the spec has no errors.")).toBeTruthy();
  expect(requests).toEqual([]);
});

it("says why there is no plan", async () => {
  answer = () => json(422, { title: "Invalid request", detail: "No run of this team has shown its rates yet." });
  renderWith(<PlanPanel spec={{}} valid />);
  expect(await screen.findByText("No run of this team has shown its rates yet.")).toBeTruthy();
  expect(screen.queryByRole("table")).toBeNull();
});

it("knows the workers of a spec and the fastest mode", () => {
  expect(ownGpus({})).toBe(2);
  expect(ownGpus({ parallelism: { rollout_workers: 3, learner_ranks: 2 } })).toBe(5);
  expect(fastest(PLAN.modes)?.mode).toBe("async");
  expect(fastest([mode("sync", 10, [1, 1]), mode("async", 10.05, [1, 1])])).toBeNull();
  expect(fastest([])).toBeNull();
});

it("writes short steps in milliseconds", () => {
  expect([0.1714, 4.251, 42, 185].map(stepTime)).toEqual(["171 ms", "4.25 s", "42 s", "3 min 05 s"]);
});

it("plans a run without engines for its learner alone, and splits nothing", async () => {
  renderWith(<PlanPanel spec={{ objective: { type: "sft" }, parallelism: { learner_ranks: 1 } }} valid />);
  expect(await screen.findByText("1 h 10 min")).toBeTruthy();
  expect(requests[0]?.body.gpus).toBe(1);
  expect(screen.queryByText("Engines idle")).toBeNull();
  expect(screen.queryByLabelText("GPUs to split")).toBeNull();
  expect(screen.queryByRole("table")).toBeNull();
});
