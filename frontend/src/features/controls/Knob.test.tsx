import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Control, Run, Target } from "@/api/model";
import { NumberField } from "@/features/schema-form/NumberField";
import { renderWith } from "@/test/render";
import { Knob } from "./Knob";

const PATH = "rollout.temperature";
const RUN = { id: "run_1", revision: 4, step: 10 } as Run;
const TARGETS: Target[] = [{ path: PATH, boundary: "group_dispatch", value: 1, schema: { type: "number" } }];
const staged = {
  id: "ctl_5",
  revision: 5,
  target: PATH,
  before: 1,
  value: 0.8,
  state: "staged",
  apply_at: "next",
  actor: "ada",
  reason: "",
};
const requests: { url: string; init: RequestInit }[] = [];
let answer: () => Response;

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

beforeEach(() => {
  requests.length = 0;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    requests.push({ url, init });
    return Promise.resolve(answer());
  });
});
afterEach(() => vi.unstubAllGlobals());

const knob = (controls: Partial<Control>[], run = RUN) => (
  <Knob run={run} targets={TARGETS} controls={controls as Control[]} enabled testId="knob">
    {state => <NumberField label="Temperature" value={state.value(PATH)} onChange={next => state.set(PATH, next)} />}
  </Knob>
);

async function type(text: string) {
  const user = userEvent.setup();
  const input = screen.getByLabelText("Temperature");
  await user.clear(input);
  await user.type(input, text);
  return user;
}

it("sends the change with the seen revision and the reason, and claims nothing before the worker speaks", async () => {
  answer = () => json(202, staged);
  const view = renderWith(knob([]));
  expect(screen.queryByRole("button", { name: "Apply" })).toBeNull();
  const user = await type("0.8");
  await user.type(screen.getByLabelText("Reason for the change"), "less noise");
  await user.click(screen.getByRole("button", { name: "Apply" }));
  await waitFor(() => expect(requests).toHaveLength(1));
  const { url, init } = requests[0] as (typeof requests)[number];
  expect(url).toBe("/api/v1/runs/run_1/controls");
  expect(new Headers(init.headers).get("if-match")).toBe('"4"');
  expect(JSON.parse(String(init.body))).toEqual({ target: PATH, value: 0.8, apply_at: "next", reason: "less noise" });
  expect(screen.queryByText(/applied/)).toBeNull();
  view.update(knob([staged as Partial<Control>]));
  expect((await screen.findByTestId("control-progress")).textContent).toContain("staged, waiting for the worker");
  view.update(knob([{ ...staged, state: "applied", applied_step: 12, applied_group: "12-0" } as Partial<Control>]));
  expect(screen.getByTestId("control-progress").textContent).toContain("applied at step 12 (group 12-0), settling");
});

it("shows the other person's change on a conflict, and applies mine on its revision", async () => {
  const theirs = { ...staged, revision: 6, value: 0.5, actor: "grace@example.com", reason: "too hot" };
  answer = () => json(412, { title: "Precondition failed", detail: "stale", revision: 6, changes: [theirs] });
  renderWith(knob([]));
  const user = await type("0.8");
  await user.click(screen.getByRole("button", { name: "Apply" }));
  const conflict = await screen.findByTestId("control-conflict");
  expect(conflict.textContent).toContain("grace@example.com");
  expect(conflict.textContent).toContain("1 → 0.5");
  expect(conflict.textContent).toContain("too hot");
  answer = () => json(202, { ...staged, revision: 7 });
  await user.click(screen.getByRole("button", { name: "Apply mine all the same" }));
  await waitFor(() => expect(requests).toHaveLength(2));
  expect(new Headers(requests[1]?.init.headers).get("if-match")).toBe('"6"');
  await waitFor(() => expect(screen.queryByTestId("control-conflict")).toBeNull());
});

it("does not send what is no number", async () => {
  renderWith(knob([]));
  await type("0.8x");
  expect(screen.getByRole("button", { name: "Apply" })).toHaveProperty("disabled", true);
});

it("shows the platform's refusal in its own words", async () => {
  answer = () => json(422, { title: "Invalid request", detail: "temperature must be above 0", errors: [] });
  renderWith(knob([]));
  const user = await type("0");
  await user.click(screen.getByRole("button", { name: "Apply" }));
  expect((await screen.findByRole("alert")).textContent).toContain("temperature must be above 0");
});

it("says at once what cannot be sent, and sends nothing", async () => {
  renderWith(knob([]));
  const user = await type("banana");
  expect(screen.getByRole("alert").textContent).toBe("“banana” is no number.");
  expect(screen.getByRole("button", { name: "Apply" })).toHaveProperty("disabled", true);
  await user.type(screen.getByLabelText("Reason for the change"), "why{Enter}");
  expect(requests).toHaveLength(0);
});

it("sends what was changed together with one request, staged whole or not at all", async () => {
  const band: Target[] = ["curriculum.min_pass_rate", "curriculum.max_pass_rate"].map((path, index) => ({
    path,
    boundary: "group_dispatch",
    value: [0.1, 0.3][index] ?? null,
    schema: { type: "number" },
  }));
  const made = band.map((one, index) => ({ ...staged, id: `ctl_${index}`, revision: 5 + index, target: one.path }));
  answer = () => json(202, { object: "list", data: made, revision: 6 });
  renderWith(
    <Knob run={RUN} targets={band} controls={[]} enabled testId="knob">
      {state => (
        <button
          onClick={() => {
            state.set("curriculum.max_pass_rate", 0.9);
            state.set("curriculum.min_pass_rate", 0.6);
          }}
        >
          harder
        </button>
      )}
    </Knob>,
  );
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "harder" }));
  await user.click(screen.getByRole("button", { name: "Apply 2 changes" }));
  await waitFor(() => expect(screen.queryByRole("button", { name: "Apply 2 changes" })).toBeNull());
  expect(requests).toHaveLength(1);
  expect(new Headers(requests[0]?.init.headers).get("if-match")).toBe('"4"');
  expect(JSON.parse(String(requests[0]?.init.body))).toEqual({
    changes: [
      { target: "curriculum.min_pass_rate", value: 0.6 },
      { target: "curriculum.max_pass_rate", value: 0.9 },
    ],
    apply_at: "next",
    reason: "",
  });
});

it("keeps the drafts and names the field when one of several is refused", async () => {
  const detail = "curriculum.max_pass_rate: Input should be less than or equal to 1";
  answer = () => json(422, { title: "Invalid request", detail, errors: [{ pointer: "/changes/1/value", detail }] });
  const two: Target[] = [...TARGETS, { path: "rollout.top", boundary: "group_dispatch", value: 1, schema: {} }];
  renderWith(
    <Knob run={RUN} targets={two} controls={[]} enabled testId="knob">
      {state => (
        <button onClick={() => two.forEach(one => state.set(one.path, 2))}>{`${state.value(PATH)} twice`}</button>
      )}
    </Knob>,
  );
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "1 twice" }));
  await user.click(screen.getByRole("button", { name: "Apply 2 changes" }));
  expect((await screen.findByRole("alert")).textContent).toContain(detail);
  expect(requests).toHaveLength(1);
  expect(screen.getByRole("button", { name: "2 twice" })).toBeTruthy();
});
