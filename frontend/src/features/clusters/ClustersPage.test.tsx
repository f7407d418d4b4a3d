import { screen, within } from "@testing-library/react";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { afterEach, expect, it, vi } from "vitest";
import type { Cluster } from "@/api/model";
import { renderWith } from "@/test/render";
import { ClustersPage } from "./ClustersPage";

const HERE: Cluster = {
  name: "here",
  state: "up",
  fault: null,
  last_seen: new Date().toISOString(),
  ray_version: "2.60.0",
  nodes: 2,
  cpus: 32,
  cpus_free: 8,
  gpus: [{ kind: "H100", total: 8, free: 3 }],
  memory_bytes: 2 ** 36,
  memory_free_bytes: 2 ** 35,
  cpus_at_most: null,
  gpus_at_most: 64,
  places: 2,
  places_free: 0,
  own: [{ id: "run_1", name: "mine", state: "running" }],
  others: 1,
  waiting: 1,
};
const FAR: Cluster = {
  ...HERE,
  name: "far",
  state: "fault",
  fault: "The Ray cluster at 10.0.0.1:6379 cannot be reached.",
  own: [],
};
const WAITS = { id: "run_2", name: "wide", state_reason: "Waiting for a place on “here”: 2 of 2 taken." };

afterEach(() => vi.unstubAllGlobals());

async function open(waiting: unknown[]) {
  vi.stubGlobal("fetch", (url: string) => {
    const data = url.endsWith("/clusters") ? [HERE, FAR] : waiting;
    const body = JSON.stringify({ object: "list", data, has_more: false, next: null });
    return Promise.resolve(new Response(body, { status: 200, headers: { "content-type": "application/json" } }));
  });
  const root = createRootRoute();
  const page = createRoute({ getParentRoute: () => root, path: "/", component: ClustersPage });
  const run = createRoute({ getParentRoute: () => root, path: "/runs/$runId", component: () => <p>the run</p> });
  const history = createMemoryHistory({ initialEntries: ["/"] });
  const router = createRouter({ routeTree: root.addChildren([page, run]), history });
  renderWith(<RouterProvider router={router as never} />);
  return screen.findAllByTestId("cluster-card");
}

it("shows each cluster's size, free places and the team's runs on it", async () => {
  const [here, far] = await open([WAITS]);
  const first = within(here as HTMLElement);
  expect(first.getByText("0 of 2 free; other teams use 1")).toBeTruthy();
  expect(first.getByText("8 × H100, 3 free")).toBeTruthy();
  expect(first.getByText("up to 64 GPUs")).toBeTruthy();
  expect(first.getByRole("link", { name: "mine" }).getAttribute("href")).toBe("/runs/run_1");
  const second = within(far as HTMLElement);
  expect(second.getByText("faulty")).toBeTruthy();
  expect(second.getByText(FAR.fault ?? "")).toBeTruthy();
  expect(second.queryByText("Your runs")).toBeNull();
});

it("says what waits and why", async () => {
  await open([WAITS]);
  const list = within(await screen.findByTestId("waiting-runs"));
  expect(list.getByRole("link", { name: "wide" }).getAttribute("href")).toBe("/runs/run_2");
  expect(list.getByText(WAITS.state_reason)).toBeTruthy();
});

it("says that nothing waits", async () => {
  await open([]);
  expect(await screen.findByText("No queued runs")).toBeTruthy();
});
