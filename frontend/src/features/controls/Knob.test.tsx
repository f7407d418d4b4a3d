import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Control, Run, Target } from "@/api/model";
import { NumberField } from "@/features/schema-form/NumberField";
import { ConnectionLost } from "@/lib/connection";
import { aControl } from "@/test/control";
import { renderWith } from "@/test/render";
import { Knob } from "./Knob";

const PATH = "rollout.temperature";
const RUN = { id: "run_1", revision: 4, step: 10, total_steps: 40 } as Run;
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
/** The newest control that everyone has seen when a test starts. */
const SEEN = aControl({ id: "ctl_4", revision: 4, target: "thinking.budget", state: "settled" });
const theirs = (revision: number, changes: Partial<Control> = {}) =>
  aControl({
    id: `ctl_${revision}`,
    revision,
    target: PATH,
    boundary: "group_dispatch",
    before: 1,
    value: 0.5,
    state: "staged",
    applied_step: null,
    actor: "grace@example.com",
    reason: "too hot",
    ...changes,
  });
const requests: { url: string; init: RequestInit }[] = [];
let answer: () => Response;

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

beforeEach(() => {
  window.sessionStorage.clear();
  requests.length = 0;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    requests.push({ url, init });
    return Promise.resolve(answer());
  });
});
afterEach(() => vi.unstubAllGlobals());

const knob = (controls: Partial<Control>[], run = RUN) => (
  <Knob run={run} targets={TARGETS} controls={[SEEN, ...(controls as Control[])]} enabled testId="knob">
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

const cells = (path: string) =>
  [...(document.querySelector(`[data-target="${path}"]`)?.querySelectorAll("td") ?? [])].map(cell => cell.textContent);
const sent = (index: number) => {
  const { init } = requests[index] as (typeof requests)[number];
  return { seen: new Headers(init.headers).get("if-match"), body: JSON.parse(String(init.body)) as unknown };
};

it("stays at the revision of its first edit when a colleague's change comes in, and shows both", async () => {
  const view = renderWith(knob([]));
  const user = await type("0.8");
  view.update(knob([theirs(5)], { ...RUN, revision: 5 }));
  const conflict = await screen.findByTestId("control-conflict");
  expect(conflict.textContent).toContain("Someone else has changed this too");
  const [other, mine] = cells(PATH);
  expect(other).toMatch(/^1 → 0.5grace@example.com, 21 Nov, .* – “too hot”$/);
  expect(mine).toBe("0.8");
  // There is no way to send it but the one that names theirs.
  expect(screen.queryByRole("button", { name: "Apply" })).toBeNull();
  await user.type(screen.getByLabelText("Reason for the change"), "hotter{Enter}");
  expect(requests).toHaveLength(0);
  answer = () => json(202, { ...staged, revision: 6 });
  await user.click(screen.getByRole("button", { name: "Apply mine over theirs" }));
  await waitFor(() => expect(screen.queryByTestId("control-conflict")).toBeNull());
  expect(requests).toHaveLength(1);
  expect(sent(0)).toEqual({
    seen: '"5"',
    body: { target: PATH, value: 0.8, apply_at: "next", reason: "hotter" },
  });
});

it("sends the revision of its first edit, and shows who was quicker where the platform alone knows", async () => {
  answer = () => json(412, { title: "Precondition failed", detail: "stale", revision: 6, changes: [theirs(6)] });
  // The run's own number may come in before the control that it counts.
  const view = renderWith(knob([]));
  const user = await type("0.8");
  view.update(knob([], { ...RUN, revision: 6 }));
  await user.click(screen.getByRole("button", { name: "Apply" }));
  await screen.findByTestId("control-conflict");
  expect(sent(0).seen).toBe('"4"');
  expect(cells(PATH)[0]).toContain("grace@example.com");
  // A third person was quicker again: this too is shown before anything is overwritten.
  answer = () =>
    json(412, { title: "", detail: "stale", revision: 7, changes: [theirs(7, { actor: "joan@example.com" })] });
  await user.click(screen.getByRole("button", { name: "Apply mine over theirs" }));
  await waitFor(() => expect(cells(PATH)[0]).toContain("joan@example.com"));
  expect(sent(1).seen).toBe('"6"');
  answer = () => json(202, { ...staged, revision: 8 });
  await user.click(screen.getByRole("button", { name: "Apply mine over theirs" }));
  await waitFor(() => expect(requests).toHaveLength(3));
  expect(sent(2).seen).toBe('"7"');
  await waitFor(() => expect(screen.queryByTestId("control-conflict")).toBeNull());
});

it("takes theirs, and begins the next draft after it", async () => {
  const view = renderWith(knob([]));
  const user = await type("0.8");
  await user.type(screen.getByLabelText("Reason for the change"), "hotter");
  view.update(knob([theirs(5)]));
  await user.click(await screen.findByRole("button", { name: "Use theirs" }));
  expect(screen.queryByTestId("control-conflict")).toBeNull();
  expect(screen.getByLabelText("Temperature")).toHaveProperty("value", "0.5");
  expect(requests).toHaveLength(0);
  await type("0.7");
  expect(screen.getByLabelText("Reason for the change")).toHaveProperty("value", "");
  answer = () => json(202, { ...staged, revision: 6 });
  await user.click(screen.getByRole("button", { name: "Apply" }));
  await waitFor(() => expect(requests).toHaveLength(1));
  expect(sent(0).seen).toBe('"5"');
});

it("lets a draft of another field be applied with one click, and says what has changed", async () => {
  const other = theirs(5, { target: "optimizer.learning_rate", before: 1e-6, value: 1e-5 });
  const view = renderWith(knob([]));
  const user = await type("0.8");
  view.update(knob([other]));
  const conflict = await screen.findByTestId("control-conflict");
  expect(conflict.textContent).toContain("Someone else has changed the run");
  expect(cells(PATH)).toEqual(["not changed", "0.8"]);
  expect(cells("optimizer.learning_rate")[0]).toContain("grace@example.com");
  expect(cells("optimizer.learning_rate")[1]).toBe("not changed");
  answer = () => json(202, { ...staged, revision: 6 });
  await user.click(screen.getByRole("button", { name: "Apply mine as well" }));
  await waitFor(() => expect(requests).toHaveLength(1));
  expect(sent(0)).toMatchObject({ seen: '"5"', body: { target: PATH, value: 0.8 } });
});

it("says what the platform has against the draft over theirs", async () => {
  const view = renderWith(knob([]));
  const user = await type("0.8");
  view.update(knob([theirs(5, { target: "rollout.max_tokens" })]));
  answer = () => json(422, { title: "Invalid request", detail: "no room is left", errors: [] });
  await user.click(await screen.findByRole("button", { name: "Apply mine as well" }));
  expect((await screen.findByRole("alert")).textContent).toContain("no room is left");
  expect(screen.getByLabelText("Temperature")).toHaveProperty("value", "0.8");
});

it("does not keep a value that was put back over what a colleague does later", async () => {
  const view = renderWith(knob([]));
  const user = await type("0.8");
  await type("1");
  await user.tab();
  view.update(knob([theirs(5)]));
  expect(screen.getByLabelText("Temperature")).toHaveProperty("value", "0.5");
  expect(screen.queryByTestId("control-conflict")).toBeNull();
  expect(screen.queryByLabelText("Reason for the change")).toBeNull();
});

it("takes no change of this console for someone else's", async () => {
  const second: Target = { path: "rollout.top_p", boundary: "group_dispatch", value: 1, schema: { type: "number" } };
  const two = (controls: Control[]) => (
    <>
      {knob(controls)}
      <Knob run={RUN} targets={[second]} controls={[SEEN, ...controls]} enabled testId="second">
        {state => <button onClick={() => state.set(second.path, 0.9)}>less</button>}
      </Knob>
    </>
  );
  const view = renderWith(two([]));
  const user = await type("0.8");
  await user.click(screen.getByRole("button", { name: "less" }));
  const own = aControl({ id: "ctl_5", revision: 5, target: second.path, before: 1, value: 0.9, state: "staged" });
  answer = () => json(202, own);
  await user.click(within(screen.getByTestId("second")).getByRole("button", { name: "Apply" }));
  await waitFor(() => expect(screen.getAllByRole("button", { name: "Apply" })).toHaveLength(1));
  view.update(two([own]));
  expect(screen.queryByTestId("control-conflict")).toBeNull();
  answer = () => json(202, { ...staged, id: "ctl_6", revision: 6 });
  await user.click(screen.getByRole("button", { name: "Apply" }));
  await waitFor(() => expect(requests).toHaveLength(2));
  expect(sent(1)).toMatchObject({ seen: '"5"', body: { target: PATH } });
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
  expect(screen.getByRole("alert").textContent).toBe("“banana” is not a number.");
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
    <Knob run={RUN} targets={band} controls={[SEEN]} enabled testId="knob">
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
    <Knob run={RUN} targets={two} controls={[SEEN]} enabled testId="knob">
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

const bodies = () => requests.map(({ init }) => JSON.parse(String(init.body)) as Record<string, unknown>);

it("applies a typed value on Enter", async () => {
  answer = () => json(202, staged);
  renderWith(knob([]));
  await type("0.8{Enter}");
  await waitFor(() => expect(bodies()).toMatchObject([{ target: PATH, value: 0.8, apply_at: "next" }]));
  expect(bodies()[0]).not.toHaveProperty("ramp_steps");
});

it("keeps a draft for the next visit, until it is sent", async () => {
  answer = () => json(202, staged);
  const first = renderWith(knob([]));
  const typed = await type("0.8");
  await typed.type(screen.getByLabelText("Reason for the change"), "cooler");
  first.unmount();

  const second = renderWith(knob([]));
  expect(screen.getByText("Draft restored.")).toBeTruthy();
  expect(screen.getByLabelText<HTMLInputElement>("Temperature").value).toBe("0.8");
  await userEvent.click(screen.getByRole("button", { name: "Apply" }));
  await waitFor(() => expect(bodies()).toMatchObject([{ value: 0.8, reason: "cooler" }]));
  await waitFor(() => expect(screen.queryByRole("button", { name: "Apply" })).toBeNull());
  second.unmount();

  renderWith(knob([]));
  expect(screen.queryByRole("button", { name: "Apply" })).toBeNull();
  expect(screen.getByLabelText<HTMLInputElement>("Temperature").value).toBe("1");
});

it("tells of a draft that was kept while others changed the run", async () => {
  const first = renderWith(knob([]));
  await type("0.8");
  first.unmount();
  renderWith(knob([theirs(5)]));
  expect(await screen.findByTestId("control-conflict")).toBeTruthy();
});

it("asks for a step, and for a ramp that ends in time", async () => {
  answer = () => json(202, staged);
  renderWith(knob([]));
  const user = await type("0.6");
  await user.selectOptions(screen.getByLabelText("When it takes effect"), "Ramp");
  expect(screen.getByRole("alert").textContent).toBe("A ramp takes 2 to 30 steps.");
  expect(screen.getByRole("button", { name: "Apply" })).toHaveProperty("disabled", true);
  await user.type(screen.getByLabelText("Steps of the ramp"), "8");
  await user.type(screen.getByLabelText("First step of the ramp"), "20");
  await user.click(screen.getByRole("button", { name: "Apply" }));
  await waitFor(() => expect(bodies()).toMatchObject([{ value: 0.6, apply_at: 20, ramp_steps: 8 }]));
});

it("sends nothing without a connection, and says so", async () => {
  renderWith(<ConnectionLost value={true}>{knob([])}</ConnectionLost>);
  await type("0.8{Enter}");
  expect(screen.getByRole("button", { name: "Offline: not sent" })).toHaveProperty("disabled", true);
  expect(requests).toEqual([]);
});

it("says how far a ramp is", () => {
  const ramp = theirs(5, { state: "applied", applied_step: 8, ramp_steps: 10, value: 0.6 });
  renderWith(knob([ramp]));
  expect(screen.getByTestId("control-progress").textContent).toContain("moving from step 8 to 17, 4 of 10 done");
});
