import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Spec } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { renderWith } from "@/test/render";
import { RehearsePanel } from "./RehearsePanel";

const SPEC: Spec = { schedule: { steps: 3 } };
const REPORT = {
  groups: [{ source: "s", row: 0, samples: [] }],
  findings: [{ kind: "all_cut", title: "All answers are cut", message: "8 of 8 are cut.", advice: "Raise it." }],
  signal_share: 0,
};
let answers: Record<string, unknown>[] = [];
let asked: { method: string; path: string; key: string | null; body: unknown }[] = [];
let role = "editor";
let refused = false;

const made = (more: object) => ({
  id: "rhs_1",
  state: "queued",
  error: null,
  ahead: 0,
  created_at: "2026-11-22T10:00:00Z",
  started_at: null,
  progress: null,
  report: null,
  step_time: null,
  placed_on: null,
  ...more,
});
const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

function answer(url: string, init: RequestInit): Response {
  const path = url.replace(/^.*\/api\/v1/, "");
  if (path === "/session") return json(200, { role, user: null, team: null, teams: [] });
  const headers = new Headers(init.headers);
  const body: unknown = init.body ? JSON.parse(init.body as string) : null;
  asked.push({ method: init.method ?? "GET", path, key: headers.get("Idempotency-Key"), body });
  if (path === "/rehearsals") {
    return refused
      ? json(422, { title: "Invalid request", detail: "The folder of the policy 'p' is gone.", errors: [] })
      : json(202, made({}));
  }
  if (path.endsWith("/cancel")) return json(202, made({ state: "cancelled" }));
  const next = answers.length > 1 ? answers.shift() : answers[0];
  return json(200, made(next ?? {}));
}

beforeEach(() => {
  asked = [];
  answers = [];
  role = "editor";
  refused = false;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => Promise.resolve(answer(url, init)));
});
afterEach(() => vi.unstubAllGlobals());

const button = () => screen.getByRole<HTMLButtonElement>("button", { name: "Start dry run" });

async function open(ready = true) {
  const view = renderWith(<RehearsePanel spec={SPEC} ready={ready} />);
  await screen.findByTestId("rehearse-start"); // nothing is drawn before the session is known
  expect(screen.queryByText(/need the editor role/) === null).toBe(role !== "viewer");
  return { user: userEvent.setup(), view };
}

it("shows warnings first once the rehearsal is done", async () => {
  answers = [
    { state: "running", progress: { phase: "generating", done: 1, total: 8 } },
    { state: "done", report: REPORT },
  ];
  const { user } = await open();
  await waitFor(() => expect(button().disabled).toBe(false));
  await user.click(button());
  await screen.findByText(/Sampling and grading, 1 of 8 prompts/);
  expect(button().disabled).toBe(true);
  const finding = await screen.findByTestId("finding", {}, { timeout: 4000 });
  expect(finding.textContent).toContain("All answers are cut8 of 8 are cut.Raise it.");
  expect(screen.getByTestId("signal-share").textContent).toContain(`0 of 1 groups (${formatPercent(0)}) have signal`);
  expect(screen.getByTestId("rehearsal-link").getAttribute("href")).toBe("/rehearsals/rhs_1");
  expect(button().disabled).toBe(false);
  const [first] = asked;
  expect(first).toMatchObject({ method: "POST", body: { spec: SPEC, prompts: 8, samples: 4 } });
  expect(first?.key).toBeTruthy();
  await user.click(button());
  const posts = asked.filter(one => one.path === "/rehearsals");
  expect(posts).toHaveLength(2);
  expect(posts[1]?.key).not.toBe(first?.key);
});

it("cancels one that is on its way", async () => {
  answers = [{ state: "queued" }];
  const { user } = await open();
  await waitFor(() => expect(button().disabled).toBe(false));
  await user.click(button());
  await user.click(await screen.findByRole("button", { name: "Cancel dry run" }));
  await screen.findByText("The dry run was cancelled.");
  expect(button().disabled).toBe(false);
});

it("goes where the run is to go, and says where it is held", async () => {
  answers = [{ state: "queued", placed_on: "far" }];
  const user = userEvent.setup();
  renderWith(<RehearsePanel spec={SPEC} ready where={{ cluster: "far" }} />);
  await screen.findByTestId("rehearse-start");
  await waitFor(() => expect(button().disabled).toBe(false));
  await user.click(button());
  await screen.findByText(/· on far$/);
  expect(asked[0]?.body).toEqual({ spec: SPEC, prompts: 8, samples: 4, cluster: "far" });
});

it("says why one could not be held", async () => {
  answers = [{ state: "failed", error: "The policy folder /p is not there on this machine." }];
  const { user } = await open();
  await waitFor(() => expect(button().disabled).toBe(false));
  await user.click(button());
  expect((await screen.findByRole("alert")).textContent).toContain(
    "The policy folder /p is not there on this machine.",
  );
});

it("says what the platform refuses", async () => {
  refused = true;
  const { user } = await open();
  await waitFor(() => expect(button().disabled).toBe(false));
  await user.click(button());
  expect(await screen.findByText(/The folder of the policy 'p' is gone./)).toBeTruthy();
  expect(screen.queryByTestId("rehearsal")).toBeNull();
});

it("tells a stale result from one of the spec at hand", async () => {
  answers = [{ state: "done", report: REPORT }];
  const { user, view } = await open();
  await waitFor(() => expect(button().disabled).toBe(false));
  await user.click(button());
  await screen.findByTestId("finding");
  expect(screen.queryByText(/The spec has changed/)).toBeNull();
  view.update(<RehearsePanel spec={{ schedule: { steps: 4 } }} ready />);
  expect(screen.getByText(/The spec has changed/)).toBeTruthy();
});

it.each([
  ["a spec with faults", false, "editor"],
  ["who only reads", true, "viewer"],
])("is closed to %s", async (_, ready, who) => {
  role = who;
  await open(ready);
  expect(button().disabled).toBe(true);
});
