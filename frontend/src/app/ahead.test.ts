// @vitest-environment happy-dom
import { QueryClient } from "@tanstack/react-query";
import { createMemoryHistory } from "@tanstack/react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Run } from "@/api/model";
import { runQuery } from "@/entities/runs/queries";
import { askAhead } from "./ahead";
import { router } from "./router";

let asked: string[];
let client: QueryClient;

beforeEach(() => {
  asked = [];
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    if (url.includes("/by-id")) return Promise.resolve(Response.json({ data: [{ id: "run_1" }, { id: "run_2" }] }));
    return new Promise(() => undefined); // nobody is known to be signed in yet
  });
});
afterEach(() => vi.unstubAllGlobals());

function openAt(address: string) {
  router.update({ ...router.options, history: createMemoryHistory({ initialEntries: [address] }) });
  askAhead(router, client);
}

it("asks for runs and their metrics beside the session, all runs in one request each", async () => {
  openAt("/runs/compare?runs=run_1,run_2,run_1");
  await vi.waitFor(() => expect(client.getQueryData<Run>(runQuery("run_2").queryKey)?.id).toBe("run_2"));
  expect(asked).toEqual([
    "/api/v1/session",
    "/api/v1/runs/by-id?runs=run_1%2Crun_2",
    "/api/v1/metrics/names?runs=run_1%2Crun_2",
  ]);
});

it("asks for the run of a run page", async () => {
  openAt("/runs/run_7?tab=charts");
  await vi.waitFor(() =>
    expect(asked).toEqual(["/api/v1/session", "/api/v1/runs/run_7", "/api/v1/runs/run_7/metrics/names"]),
  );
});

it.each([
  ["/", "/api/v1/home"],
  ["/runs?state=failed", "/api/v1/runs?limit=100&state=failed"],
])("asks for what %s begins with", async (address, wanted) => {
  openAt(address);
  await vi.waitFor(() => expect(asked).toEqual(["/api/v1/session", wanted]));
});

it.each(["/datasets", "/runs/new", "/sign-in?next=%2Fruns%2Frun_7", "/nowhere/at/all"])(
  "asks for no run at %s",
  async address => {
    openAt(address);
    await Promise.resolve();
    expect(asked).toEqual(["/api/v1/session"]);
  },
);
