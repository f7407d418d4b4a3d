import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ClusterEstimate, ClusterPlan } from "@/api/model";
import { renderWith } from "@/test/render";
import { ClusterPanel } from "./ClusterPanel";

const fits: ClusterEstimate = {
  gpus: 64,
  refusal: null,
  rollout_engines: 40,
  gpus_per_engine: 1,
  rollout_gpus: 40,
  learner_gpus: 24,
  unused_gpus: 0,
  step_seconds: 42,
  shares: { generating: 0.5, learning: 0.25, loading: 0.01, waiting: 0.2, saving: 0.03, failures: 0.01 },
  sync_seconds: 0.5,
  tokens_per_s: 1000,
  failures: 2,
  gpu_hours: 746.67,
  cost: null,
};
const none = { step_seconds: null, shares: null, sync_seconds: null, tokens_per_s: null, gpu_hours: null };
const PLAN: ClusterPlan = {
  gpu: "H100",
  parameters: 8e9,
  prompt_tokens: 512,
  mean_tokens: 4200,
  tokens_source: "the run 'first'",
  estimates: [{ ...fits, ...none, gpus: 8, refusal: "the learner takes 503 GiB." }, fits],
};
const requests: { url: string; body: { gpu: string; price?: number } }[] = [];
let answer: () => Response;
const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

beforeEach(() => {
  requests.length = 0;
  answer = () => json(200, PLAN);
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    requests.push({ url, body: JSON.parse(init.body as string) as { gpu: string; price?: number } });
    return Promise.resolve(answer());
  });
});
afterEach(() => vi.unstubAllGlobals());

const open = () => userEvent.click(screen.getByRole("button", { name: "Estimate on larger clusters" }));

it("plans when it is asked to, and tells what does not fit", async () => {
  renderWith(<ClusterPanel spec={{ name: "x" }} valid />);
  expect(requests).toEqual([]);
  await open();
  const table = await screen.findByRole("table", { name: "1,000 steps on H100" });
  expect(
    within(table)
      .getAllByRole("row")
      .map(row => row.textContent),
  ).toEqual(["GPUsSplitStepWaitGPU hours", "8Does not fit: the learner takes 503 GiB.", "6440 + 2442 s20 %747"]);
  expect(screen.getByText(/from the run 'first'\.$/)).toBeTruthy();
  expect(requests).toEqual([{ url: "/api/v1/spec/plan/clusters", body: { spec: { name: "x" }, gpu: "H100" } }]);
});

it("shows costs once there is a price, and takes another kind of GPU", async () => {
  renderWith(<ClusterPanel spec={{}} valid />);
  await open();
  await screen.findByRole("table");
  answer = () => json(200, { ...PLAN, gpu: "H200", estimates: [{ ...fits, cost: 1866.7 }] });
  await userEvent.selectOptions(screen.getByLabelText("GPU type"), "H200");
  await userEvent.type(screen.getByLabelText("Price per GPU hour"), "2.5");
  await vi.waitFor(() => expect(requests.at(-1)?.body).toMatchObject({ gpu: "H200", price: 2.5 }), 3000);
  expect(await screen.findByRole("columnheader", { name: "Cost" })).toBeTruthy();
  expect(screen.getByText("1,870")).toBeTruthy();
});

it("asks nothing while the spec has faults, and says why there is no plan", async () => {
  const { unmount } = renderWith(<ClusterPanel spec={{}} valid={false} />);
  expect(screen.getByRole("button")).toHaveProperty("disabled", true);
  unmount();
  answer = () => json(422, { title: "Invalid request", detail: "The size of the policy 'p' is not known." });
  renderWith(<ClusterPanel spec={{}} valid />);
  await open();
  expect(await screen.findByText("The size of the policy 'p' is not known.")).toBeTruthy();
  expect(screen.queryByRole("table")).toBeNull();
});
