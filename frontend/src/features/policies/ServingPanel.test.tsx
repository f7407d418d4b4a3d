import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Serving } from "@/api/model";
import { renderWith } from "@/test/render";
import { samples } from "./serving";
import { ServingPanel } from "./ServingPanel";

const URL = "http://127.0.0.1:40001/v1";
const KEY = "dgw_secret";
const SERVING: Serving = {
  id: "srv_1",
  state: "queued",
  error: null,
  policy: "tiny",
  policy_id: "pol_1",
  base_url: null,
  cluster: null,
  placed_on: null,
  created_at: "2026-11-22T10:00:00Z",
  started_at: null,
  finished_at: null,
  created_by: "someone@example.com",
};
let served: Serving[] = [];
let asked: { path: string; key: string | null; body: unknown }[] = [];
let role = "editor";

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

function answer(url: string, init: RequestInit): Response {
  const path = url.replace(/^.*\/api\/v1/, "");
  if (path === "/session") return json(200, { role, user: null, team: null, teams: [] });
  if (init.method !== "POST") return json(200, { data: served, has_more: false, next: null });
  const body: unknown = init.body ? JSON.parse(init.body as string) : null;
  asked.push({ path, key: new Headers(init.headers).get("Idempotency-Key"), body });
  if (path.endsWith("/stop")) {
    served = served.map(one => ({ ...one, state: "done", base_url: null }));
    return json(202, served[0]);
  }
  served = [{ ...SERVING, state: "running", base_url: URL }, ...served];
  return json(202, { ...SERVING, key: KEY });
}

beforeEach(() => {
  served = [];
  asked = [];
  role = "editor";
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => Promise.resolve(answer(url, init)));
});
afterEach(() => vi.unstubAllGlobals());

function open(refusal = "") {
  renderWith(<ServingPanel policyId="pol_1" slug="tiny" refusal={refusal} />);
  return userEvent.setup();
}

it("serves a policy, shows its key once, and samples with its address", async () => {
  const user = open();
  await user.click(await screen.findByRole("button", { name: "Serve" }));
  const secret = await screen.findByTestId("secret");
  expect(within(secret).getByText(KEY)).toBeTruthy();
  expect(asked).toEqual([{ path: "/servings", key: expect.any(String) as string, body: { policy: "tiny" } }]);
  expect(screen.getByText(URL)).toBeTruthy();
  const sample = screen.getByRole("region", { name: "Sample" });
  expect(sample.textContent).toBe(samples(URL, "tiny").python);
  await user.click(screen.getByRole("radio", { name: "curl" }));
  expect(sample.textContent).toBe(samples(URL, "tiny").curl);
  expect(document.body.textContent).not.toContain(`Bearer ${KEY}`);
  await user.click(screen.getByRole("button", { name: "Hide permanently" }));
  expect(screen.queryByText(KEY)).toBeNull();
});

it("stops it, and can serve it again", async () => {
  served = [{ ...SERVING, state: "running", base_url: URL }];
  const user = open();
  await user.click(await screen.findByRole("button", { name: "Stop" }));
  await user.click(await screen.findByRole("button", { name: "Serve" }));
  await screen.findByTestId("secret");
  expect(asked.map(({ path }) => path)).toEqual(["/servings/srv_1/stop", "/servings"]);
});

it("says what it waits for, and shows no sample before there is an address", async () => {
  served = [SERVING];
  open();
  await screen.findByText("Waiting for the cluster");
  expect(screen.queryByRole("region", { name: "Sample" })).toBeNull();
});

it("says why it could not be served", async () => {
  served = [{ ...SERVING, state: "failed", error: "The cluster is too small." }];
  open();
  await screen.findByText("The cluster is too small.");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Serve" }).disabled).toBe(false);
});

it("offers nothing for a policy without a chat, and to viewers", async () => {
  open("It has no chat template.");
  await screen.findByText("It has no chat template.");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Serve" }).disabled).toBe(true);
});

it("lets a viewer see the address, and neither start nor stop", async () => {
  role = "viewer";
  served = [{ ...SERVING, state: "running", base_url: URL }];
  open();
  await screen.findByText(URL);
  await waitFor(() => expect(screen.queryByRole("button", { name: "Stop" })).toBeNull());
});

it("shows the servings of its own policy alone", async () => {
  served = [{ ...SERVING, state: "running", base_url: URL, policy_id: "pol_2" }];
  open();
  await screen.findByRole("button", { name: "Serve" });
  expect(screen.queryByText(URL)).toBeNull();
});
