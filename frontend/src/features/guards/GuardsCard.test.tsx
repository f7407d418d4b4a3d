import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Run } from "@/api/model";
import { renderWith } from "@/test/render";
import { GuardsCard } from "./GuardsCard";

vi.mock("@/features/session/session", () => ({ useCan: () => true }));

const ENTROPY = {
  type: "metric_bound",
  name: "entropy collapse",
  metric: "actor/entropy",
  action: "alert",
  min: 0.05,
  for_steps: 2,
};
const SPIKE = { ...ENTROPY, name: "gradient spike", metric: "actor/grad_norm" };
const finding = {
  guard: "entropy collapse",
  metric: "actor/entropy",
  severity: "error",
  since: 12,
  step: 13,
  message: "actor/entropy is 0.01",
  action: "alert",
  outcome: null,
};
const RUN = {
  id: "run_1",
  revision: 4,
  step: 20,
  state: "running",
  spec: { guards: [ENTROPY] },
  effective_spec: { guards: [ENTROPY] },
  health: { state: "error", findings: [finding] },
} as unknown as Run;
const sent: { body: Record<string, unknown>; match: string | null }[] = [];
const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

function answer(url: string, init: RequestInit): Response {
  if (init.method === "POST") {
    const body = JSON.parse(String(init.body)) as Record<string, unknown>;
    sent.push({ body, match: new Headers(init.headers).get("If-Match") });
    return json(202, { id: "ctl_1", revision: 5, state: "staged", ...body });
  }
  if (url.includes("/metrics/names")) return json(200, { object: "list", data: [{ name: "actor/entropy" }] });
  if (url.includes("/metrics")) {
    const series = {
      "actor/entropy": { x: [10, 11, 12, 13], mean: [0.5, 0.4, 0.01, 0.01], min: [], max: [], nan: [], raw_count: 4 },
    };
    return json(200, { x: "step", series });
  }
  if (url.includes("/spec/schema")) return json(200, { properties: { guards: { default: [ENTROPY, SPIKE] } } });
  return json(200, { object: "list", data: [], has_more: false });
}

beforeEach(() => {
  sent.length = 0;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => Promise.resolve(answer(url, init)));
});
afterEach(() => vi.unstubAllGlobals());

it("shows what a guard found, and the steps at which it would have acted", async () => {
  renderWith(<GuardsCard run={RUN} />);
  const row = screen.getByTestId("guard");
  expect(row.textContent).toContain("since step 12");
  await userEvent.click(within(row).getByRole("button"));
  await waitFor(() =>
    expect(screen.getByTestId("guard-picture").textContent).toContain("Would have acted at step 13."),
  );
});

it("mutes a guard by one control over all of them, and sends nothing before it is applied", async () => {
  renderWith(<GuardsCard run={RUN} />);
  await userEvent.click(within(screen.getByTestId("guard")).getByRole("button"));
  await userEvent.click(await screen.findByRole("button", { name: "Mute for 50 steps" }));
  expect(sent).toEqual([]);
  await userEvent.click(screen.getByTestId("apply-guards"));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.body).toMatchObject({ target: "guards", value: [{ ...ENTROPY, muted_until: 70 }] });
});

const strict = (guard: object) => ({ ...guard, action: "pause" });

it("takes the guards of a preset", async () => {
  renderWith(<GuardsCard run={RUN} />);
  await userEvent.click(await screen.findByRole("radio", { name: "Strict" }));
  await userEvent.click(screen.getByTestId("apply-guards"));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.body).toMatchObject({ target: "guards", value: [ENTROPY, SPIKE].map(strict) });
});

it("offers a run without samples the guards that it reports the metrics of", async () => {
  const spec = { objective: { type: "sft" }, guards: [] };
  renderWith(<GuardsCard run={{ ...RUN, spec, effective_spec: spec }} />);
  await userEvent.click(await screen.findByRole("radio", { name: "Strict" }));
  await userEvent.click(screen.getByRole("button", { name: "Add a guard" }));
  await userEvent.click(screen.getByTestId("apply-guards"));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.body).toMatchObject({ target: "guards", value: [strict(SPIKE), { metric: "sft/loss" }] });
});
