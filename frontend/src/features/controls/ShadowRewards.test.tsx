import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Control, Run, Target } from "@/api/model";
import { renderWith } from "@/test/render";
import { Knob } from "./Knob";
import { DEFINITION, SHADOW } from "./shadow";
import { ShadowRewards } from "./ShadowRewards";

const RUN = { id: "run_1", revision: 4, step: 10 } as Run;
const target = (path: string, value: Target["value"]): Target => ({
  path,
  boundary: "group_dispatch",
  value,
  schema: { type: Array.isArray(value) ? "array" : "string" },
});
const TARGETS = [target(DEFINITION, "math@1"), target(SHADOW, ["math@2"])] as const;
const sent: Record<string, unknown>[] = [];

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

function answer(url: string, init: RequestInit): Response {
  if (init.method === "POST") {
    const body = JSON.parse(String(init.body)) as Record<string, unknown>;
    sent.push(body);
    return json(202, { id: `ctl_${sent.length}`, revision: 4 + sent.length, state: "staged", ...body });
  }
  if (url.includes("/metrics")) {
    const one = (value: number) => ({ x: [8, 9], mean: [0, value], min: [], max: [], nan: [], raw_count: 2 });
    const series = { "reward_shadow/math@2/mean": one(0.61), "reward_shadow/math@2/agreement": one(0.92) };
    return json(200, { x: "step", series });
  }
  const versions = ["math@1", "math@2", "math@3"].map(ref => ({ ref }));
  return json(200, { data: [{ id: "rwd_1", versions, latest_version: versions[2] }] });
}

beforeEach(() => {
  sent.length = 0;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => Promise.resolve(answer(url, init)));
});
afterEach(() => vi.unstubAllGlobals());

const card = (controls: Partial<Control>[] = []) => (
  <Knob run={RUN} targets={[...TARGETS]} controls={controls as Control[]} enabled testId="knob">
    {state => <ShadowRewards runId="run_1" definition={TARGETS[0]} shadow={TARGETS[1]} state={state} />}
  </Knob>
);

it("shows how a shadow fares, and promotes it as a staged control with a reason", async () => {
  const user = userEvent.setup();
  const view = renderWith(card());
  const shadow = screen.getByTestId("shadow");
  await waitFor(() => expect(shadow.textContent).toContain("mean 0.61 · agrees 92 %"));
  await user.click(within(shadow).getByTestId("promote"));
  await user.type(screen.getByLabelText("Reason for the change"), "agrees, and is cheaper");
  await user.click(screen.getByRole("button", { name: "Apply" }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toEqual({
    target: DEFINITION,
    value: "math@2",
    apply_at: "next",
    reason: "agrees, and is cheaper",
  });
  const staged = { id: "ctl_1", revision: 5, target: DEFINITION, before: "math@1", value: "math@2", state: "staged" };
  view.update(card([{ ...staged, apply_at: "next" } as Partial<Control>]));
  expect(screen.getByTestId("control-progress").textContent).toContain("staged, waiting for the worker");
  expect(within(screen.getByTestId("shadow")).getByText("to be promoted")).toBeTruthy();
});

it("takes a version out of the shadow", async () => {
  const user = userEvent.setup();
  renderWith(card());
  await user.click(screen.getByRole("button", { name: "Remove math@2 from the shadow rewards" }));
  expect(screen.queryByTestId("shadow")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Apply" }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toMatchObject({ target: SHADOW, value: [] });
});
