import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { type ReactNode, Suspense, useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { JsonSchema, Spec } from "@/api/model";
import { renderWith } from "@/test/render";
import type { Objective } from "@/entities/runs/objective";
import { NewRunForm } from "./NewRunForm";
import { ObjectiveChoice } from "./ObjectiveChoice";

const SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    optimizer: { type: "object", properties: { rate: { type: "number", default: 0.1 } } },
    schedule: { type: "object", properties: { steps: { type: "integer", default: 40 } } },
  },
};
const BASE: Spec = { optimizer: { rate: 0.1 }, schedule: { steps: 40 } };
const VALID = { valid: true, errors: [], resolved: BASE, explanation: null };
const ACCEPTED = "Valid spec";
const TOO_LONG = {
  pointer: "/spec/schedule/steps",
  detail: "Too many steps.",
  mend: {
    label: "Set steps to 8, and rate to 0.5",
    changes: [
      { pointer: "/spec/schedule/steps", value: 8 },
      { pointer: "/spec/optimizer/rate", value: 0.5 },
    ],
  },
};
const NO_USE = { pointer: "/spec/rollout", detail: "a run with objective.type = sft samples no completions" };
const BROKEN = "optimizer: {rate: 0.1}\nschedule: {steps: 41";
const created: { spec: Spec; start: boolean }[] = [];

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

function answer(url: string, init: RequestInit): Response {
  if (url.endsWith("/session")) return json(200, { role: "operator", user: null, team: null, teams: [] });
  if (url.endsWith("/spec/validate")) {
    const { spec } = JSON.parse(String(init.body)) as { spec: { schedule: { steps: number } } & Spec };
    const isSft = JSON.stringify(spec.objective ?? null).includes("sft");
    if (isSft && spec.rollout !== undefined) return json(200, { ...VALID, valid: false, errors: [NO_USE] });
    return json(200, spec.schedule.steps === 1000 ? { ...VALID, valid: false, errors: [TOO_LONG] } : VALID);
  }
  if (url.endsWith("/runs") && init.method === "POST") {
    created.push(JSON.parse(String(init.body)) as { spec: Spec; start: boolean });
    return json(201, { id: "run_1" });
  }
  return json(422, { title: "Invalid request", detail: "no plan", errors: [] });
}

beforeEach(() => {
  created.length = 0;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => Promise.resolve(answer(url, init)));
});
afterEach(() => vi.unstubAllGlobals());

async function open(shown: ReactNode = <NewRunForm schema={SCHEMA} base={BASE} baseLabel="the preset" name="first" />) {
  const root = createRootRoute();
  const form = createRoute({
    getParentRoute: () => root,
    path: "/",
    component: () => <Suspense>{shown}</Suspense>,
  });
  const run = createRoute({ getParentRoute: () => root, path: "/runs/$runId", component: () => <p>the run</p> });
  const history = createMemoryHistory({ initialEntries: ["/"] });
  const router = createRouter({ routeTree: root.addChildren([form, run]), history });
  renderWith(<RouterProvider router={router as never} />);
  await screen.findByText(ACCEPTED);
  return userEvent.setup();
}

type User = ReturnType<typeof userEvent.setup>;
const tab = (user: User, name: string) => user.click(screen.getByRole("tab", { name }));
const text = () => screen.getByLabelText<HTMLTextAreaElement>("Spec");
const create = () => screen.getByTestId("create-and-start");

async function write(user: User, next: string) {
  await user.clear(text());
  await user.click(text());
  await user.paste(next);
}

it("creates nothing while the text cannot be read, and says why", async () => {
  const user = await open();
  await tab(user, "YAML / JSON");
  await write(user, BROKEN);
  expect(text().value).toBe(BROKEN);
  expect(screen.queryByText(ACCEPTED)).toBeNull();
  const note = screen.getByTestId("spec-unread");
  expect(note.textContent).toContain("Invalid text");
  expect(note.textContent).toContain("line 2");
  for (const button of [create(), screen.getByTestId("create-draft")]) {
    expect(button).toHaveProperty("disabled", true);
    const reason = document.getElementById(button.getAttribute("aria-describedby") ?? "");
    expect(reason?.contains(note)).toBe(true);
    await user.click(button);
  }
  await user.click(text());
  await user.keyboard("{Control>}{Enter}{/Control}");
  await user.click(screen.getByLabelText(/^Name/));
  await user.keyboard("{Enter}");
  expect(created).toEqual([]);
});

it("creates from the text once it can be read", async () => {
  const user = await open();
  await tab(user, "YAML / JSON");
  await write(user, BROKEN);
  await write(user, `${BROKEN}}`);
  await screen.findByText(ACCEPTED);
  await waitFor(() => expect(create()).toHaveProperty("disabled", false));
  await user.click(create());
  await screen.findByText("the run");
  expect(created).toMatchObject([{ spec: { optimizer: { rate: 0.1 }, schedule: { steps: 41 } }, start: true }]);
});

it.each(["Form", "As API"])("keeps a text that cannot be read, and shows no older spec as “%s”", async name => {
  const user = await open();
  await tab(user, "YAML / JSON");
  await write(user, BROKEN);
  await tab(user, name);
  const waits = screen.getByTestId("unread-text");
  expect(waits.textContent).toContain("line 2");
  expect(screen.queryByRole("region", { name: "Schedule" })).toBeNull();
  expect(within(screen.getByRole("tabpanel")).queryByText(/curl/)).toBeNull();
  expect(create()).toHaveProperty("disabled", true);
  await user.click(within(waits).getByRole("button", { name: "Back to text" }));
  expect(text().value).toBe(BROKEN);
});

it("drops the text only when told so", async () => {
  const user = await open();
  await tab(user, "YAML / JSON");
  await write(user, BROKEN);
  await tab(user, "Form");
  await user.click(screen.getByRole("button", { name: "Discard text" }));
  expect(screen.getByRole("region", { name: "Schedule" })).toBeTruthy();
  await waitFor(() => expect(create()).toHaveProperty("disabled", false));
  await tab(user, "YAML / JSON");
  expect(text().value).toBe("optimizer:\n  rate: 0.1\nschedule:\n  steps: 40\n");
});

it("keeps a broken text when its format is changed", async () => {
  const user = await open();
  await tab(user, "YAML / JSON");
  await write(user, BROKEN);
  await user.click(screen.getByRole("radio", { name: "JSON" }));
  expect(text().value).toBe(BROKEN);
  expect(create()).toHaveProperty("disabled", true);
});

it("makes all the changes that clear a fault with one click, in the form and in the text", async () => {
  const user = await open();
  await tab(user, "YAML / JSON");
  await write(user, "optimizer: {rate: 0.1}\nschedule: {steps: 1000}");
  await user.click(await screen.findByRole("button", { name: TOO_LONG.mend.label }));
  await screen.findByText(ACCEPTED);
  expect(text().value).toBe("optimizer:\n  rate: 0.5\nschedule:\n  steps: 8\n");
  await waitFor(() => expect(create()).toHaveProperty("disabled", false));
  await user.click(create());
  await screen.findByText("the run");
  expect(created).toMatchObject([{ spec: { optimizer: { rate: 0.5 }, schedule: { steps: 8 } } }]);
});

const WITH_OBJECTIVES: JsonSchema = {
  type: "object",
  properties: {
    ...SCHEMA.properties,
    objective: {
      oneOf: [{ $ref: "#/$defs/Rl" }, { $ref: "#/$defs/Sft" }],
      discriminator: { propertyName: "type" },
      default: { type: "rl" },
    },
    rollout: { type: "object", properties: { temperature: { type: "number", default: 1 } } },
  },
  $defs: {
    Rl: { type: "object", properties: { type: { const: "rl", default: "rl" } } },
    Sft: {
      type: "object",
      title: "Supervised fine-tuning",
      formula: "−log π",
      properties: { type: { const: "sft", default: "sft" }, completion: { type: "string", default: "completion" } },
    },
  },
};
const RL_BASE: Spec = { ...BASE, objective: { type: "rl" }, rollout: { temperature: 0.7 } };
const SFT_SPEC = { ...BASE, objective: { type: "sft", completion: "completion" } };

function Chosen({ first = "rl" }: { first?: Objective }) {
  const [objective, setObjective] = useState<Objective>(first);
  return (
    <>
      <ObjectiveChoice value={objective} fixed={false} onChange={setObjective} />
      <NewRunForm
        schema={WITH_OBJECTIVES}
        base={RL_BASE}
        baseLabel="the preset"
        name="GRPO"
        objective={objective}
        onObjective={setObjective}
      />
    </>
  );
}

const section = (name: string) => screen.queryByRole("region", { name });
const named = () => screen.getByLabelText<HTMLInputElement>(/^Name/).value;

it("shows and submits the sections of the chosen objective alone", async () => {
  const user = await open(<Chosen />);
  expect([section("Objective"), section("Rollout")].map(Boolean)).toEqual([false, true]);
  await user.click(screen.getByRole("radio", { name: /Examples/ }));
  expect([section("Objective"), section("Rollout")].map(Boolean)).toEqual([true, false]);
  expect(screen.getByLabelText("Completion")).toHaveProperty("value", "completion");
  expect(named()).toBe("Supervised run");
  const changed = screen.getByRole("region", { name: "Changed from the preset" });
  expect(
    within(changed)
      .getAllByText(/^(objective|rollout)/)
      .map(one => one.textContent),
  ).toEqual(["objective.type"]);
  await waitFor(() => expect(create()).toHaveProperty("disabled", false));
  await user.click(create());
  await screen.findByText("the run");
  expect(created).toMatchObject([{ name: "Supervised run", spec: SFT_SPEC }]);
  expect(Object.keys(created[0]?.spec ?? {})).not.toContain("rollout");
});

it("puts the sections back as they were", async () => {
  const user = await open(<Chosen />);
  await user.clear(screen.getByLabelText("Temperature"));
  await user.type(screen.getByLabelText("Temperature"), "0.5");
  await user.click(screen.getByRole("radio", { name: /Examples/ }));
  await user.click(screen.getByRole("radio", { name: /Rewards/ }));
  expect(screen.getByLabelText("Temperature")).toHaveProperty("value", "0.5");
  expect([section("Objective"), named()]).toEqual([null, "GRPO"]);
});

it("follows the objective of the text, and writes the text of the chosen one", async () => {
  const user = await open(<Chosen />);
  await tab(user, "YAML / JSON");
  await write(user, "schedule: {steps: 7}\nobjective: {type: sft, completion: answer}");
  expect(screen.getByRole("radio", { name: /Examples/ })).toHaveProperty("checked", true);
  expect(text().value).toBe("schedule: {steps: 7}\nobjective: {type: sft, completion: answer}");
  await tab(user, "Form");
  expect(screen.getByLabelText("Completion")).toHaveProperty("value", "answer");
  await user.click(screen.getByRole("radio", { name: /Rewards/ }));
  await tab(user, "YAML / JSON");
  expect(text().value).toContain("temperature: 0.7");
  expect(text().value).not.toContain("answer");
});

it("removes the sections of a text that its objective has no use for", async () => {
  const user = await open(<Chosen />);
  await tab(user, "YAML / JSON");
  await write(user, "schedule: {steps: 7}\nobjective: {type: sft, completion: answer}\nrollout: {temperature: 1}");
  await user.click(await screen.findByRole("button", { name: "Remove rollout" }));
  await screen.findByText(ACCEPTED);
  expect(text().value).toBe("schedule:\n  steps: 7\nobjective:\n  type: sft\n  completion: answer\n");
  expect(screen.queryByRole("button", { name: /^Remove/ })).toBeNull();
});

it("begins with the objective that the page asks for, and leads back to the preset's", async () => {
  const user = await open(<Chosen first="sft" />);
  expect([section("Objective"), section("Rollout")].map(Boolean)).toEqual([true, false]);
  expect(named()).toBe("Supervised run");
  await user.click(screen.getByRole("radio", { name: /Rewards/ }));
  expect(screen.getByLabelText("Temperature")).toHaveProperty("value", "0.7");
  expect(named()).toBe("GRPO");
});
