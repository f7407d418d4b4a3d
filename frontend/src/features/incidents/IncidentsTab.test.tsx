import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Incident, Run } from "@/api/model";
import { renderWith } from "@/test/render";
import { IncidentsTab } from "./IncidentsTab";

let role = "operator";
const RANK = ["viewer", "editor", "operator"];
vi.mock("@/features/session/session", () => ({
  useCan: (needed: string) => RANK.indexOf(role) >= RANK.indexOf(needed),
}));
interface LinkProps {
  to: string;
  search?: Record<string, unknown>;
  className?: string;
  children: ReactNode;
}
vi.mock("@tanstack/react-router", () => {
  const link = ({ to, search, children }: LinkProps) => (
    <a href={search ? `${to}?${JSON.stringify(search)}` : to}>{children}</a>
  );
  return { Link: link, createLink: () => link };
});

const RUN = {
  id: "run_1",
  revision: 4,
  step: 60,
  state: "running",
  last_checkpoint: null,
  effective_spec: { reward: { definition: "exact@1" } },
} as unknown as Run;
const ENTROPY: Incident = {
  key: "entropy-41",
  kind: "entropy",
  severity: "error",
  state: "open",
  since: 41,
  until: null,
  title: "The entropy has collapsed",
  cause: "Ann changed optimizer.learning_rate shortly before: that is the likely cause, and no proof.",
  confidence: "likely",
  evidence: [
    { metric: "actor/entropy", title: "Entropy", unit: "nats", value: 0.01, usual: 0.7, low: 0.05, high: null },
    { metric: "rollout_corr/k3_kl", title: "Mismatch", unit: "nats", value: null, usual: null, low: null, high: null },
  ],
  signs: [
    { source: "guard", name: "entropy collapse", severity: "error", since: 41, until: null, message: "It is 0.01" },
  ],
  changes: [{ target: "optimizer.learning_rate", before: 1e-6, value: 1e-3, step: 38, actor: "Ann" }],
  advice: [
    { text: "Continue from before it.", act: "roll_back", target: null },
    { text: "Lower the learning rate.", act: "control", target: "optimizer.learning_rate" },
    { text: "Raise the edge.", act: "control", target: "loss.ratio_max" },
    { text: "Read what was cut.", act: "samples", target: "cut" },
    { text: "Resume.", act: "resume", target: null },
  ],
  checkpoint: { id: "ckpt_1", step: 40 },
  exception: null,
};
const OVER: Incident = {
  ...ENTROPY,
  key: "gradient-9",
  title: "A gradient is no number",
  state: "over",
  since: 9,
  until: 9,
};
const FAILED: Incident = {
  ...ENTROPY,
  key: "failure-12",
  kind: "failure",
  title: "The run has failed",
  cause: "KeyError: 'x'",
  confidence: "known",
  evidence: [],
  signs: [{ source: "state", name: "failed", severity: "error", since: 12, until: null, message: "KeyError: 'x'" }],
  changes: [],
  advice: [{ text: "Resume: it goes on.", act: "resume", target: null }],
  checkpoint: null,
  exception: {
    error: "KeyError: 'x'",
    frames: [
      { file: "/srv/mine.py", line: 9, function: "grade", code: 'return {}["x"]', owner: "yours" },
      { file: "worker/loop/run.py", line: 3, function: "train", code: "f()", owner: "platform" },
    ],
    attempt: 2,
    cluster: "north",
    node: "10.0.0.7",
    pid: 4711,
  },
};

let found: Incident[] | Response = [];
const posted: string[] = [];
const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

function answer(url: string, init?: RequestInit): Response {
  if (init?.method === "POST") {
    posted.push(url);
    return json(200, RUN);
  }
  if (url.includes("/incidents")) {
    if (found instanceof Response) return found;
    return json(200, { object: "list", data: found, open: found.filter(one => one.state === "open").length });
  }
  if (url.includes("/targets"))
    return json(200, { object: "list", data: [{ path: "optimizer.learning_rate" }], revision: 4 });
  return json(200, { object: "list", data: [{ id: "rwd_1", slug: "exact", name: "Exact" }], has_more: false });
}

beforeEach(() => {
  role = "operator";
  posted.length = 0;
  vi.stubGlobal("fetch", (url: string, init?: RequestInit) => Promise.resolve(answer(url, init)));
});
afterEach(() => vi.unstubAllGlobals());

const show = vi.fn();
const render = (run = RUN) => renderWith(<IncidentsTab run={run} onShow={show} />);

it("tells cause, confidence, and the value of each metric against what is usual", async () => {
  found = [ENTROPY, OVER];
  render();
  const [first, second] = await screen.findAllByTestId("incident");
  if (!first || !second) throw new Error("two incidents are drawn");
  expect(within(first).getByRole("heading").textContent).toBe("The entropy has collapsed");
  expect(first.textContent).toContain("since step 41");
  expect(within(first).getByTestId("incident-cause").dataset.confidence).toBe("likely");
  expect(first.textContent).toContain("Likely cause");
  const [entropy, mismatch] = within(first).getAllByTestId("incident-figure");
  expect(entropy?.textContent).toContain("0.01 nats");
  expect(entropy?.textContent).toContain("usually 0.7 · at least 0.05");
  expect(mismatch?.textContent).toContain("not a number");
  expect(entropy?.querySelector("a")?.getAttribute("href")).toContain('"find":"actor/entropy","from":11,"to":90');
  expect(first.textContent).toContain("Learning rate 1e−6 → 0.001 by Ann");
  expect([second.dataset.state, second.dataset.severity]).toEqual(["over", undefined]);
  expect(second.textContent).toContain("step 9");
});

it("offers what can be done now, and opens a control or a guard where it stands", async () => {
  found = [ENTROPY];
  render();
  const card = await screen.findByTestId("incident");
  expect(within(card).getByText("Fork from step 40").closest("a")?.getAttribute("href")).toContain(
    "fork=run_1&checkpoint=ckpt_1",
  );
  expect(within(card).getByText("Open samples").closest("a")?.getAttribute("href")).toContain(
    '"tab":"rollouts","first":41,"only":"cut"',
  );
  await userEvent.click(await within(card).findByRole("button", { name: "Edit learning rate" }));
  expect(show).toHaveBeenLastCalledWith('[data-targets~="optimizer\\.learning_rate"]');
  await userEvent.click(within(card).getByText("1 guard or alert"));
  await userEvent.click(within(card).getByRole("button", { name: "Guard entropy collapse" }));
  expect(show).toHaveBeenLastCalledWith('[data-guard="entropy\\ collapse"]');
  // The run has no such field, and it does not stand still: the advice is told without an act.
  expect(within(card).getByText("Raise the edge.")).toBeTruthy();
  expect(within(card).queryByRole("button", { name: /ratio/i })).toBeNull();
  expect(within(card).queryByRole("button", { name: "Resume" })).toBeNull();
});

it("shows the exception of a failed run once, its own frames in sight, and resumes it", async () => {
  found = [FAILED];
  render({ ...RUN, state: "failed" });
  const card = await screen.findByTestId("incident");
  const part = within(card).getByTestId("exception");
  expect(part.textContent).toContain("/srv/mine.py:9 in grade");
  expect(within(part).getByText("1 frame of the platform and of libraries").closest("details")?.open).toBe(false);
  expect(part.textContent).toContain("attempt 2 · cluster north · node 10.0.0.7 · process 4711");
  expect(within(part).getByText("Log").closest("a")?.getAttribute("href")).toContain('"tab":"events","kind":"log"');
  expect(await within(part).findByText("Reward Exact")).toBeTruthy();
  await userEvent.click(within(card).getByRole("button", { name: "Resume" }));
  expect(posted).toEqual([expect.stringContaining("/runs/run_1/resume")]);
});

it("says why there is no act for a viewer", async () => {
  role = "viewer";
  found = [{ ...ENTROPY }, { ...FAILED, advice: [{ text: "Back.", act: "roll_back", target: null }] }];
  render();
  expect(await screen.findByText("Forking needs the editor role.")).toBeTruthy();
  expect(screen.getByText("No earlier checkpoint is left.")).toBeTruthy();
});

it("tells a run without incidents from one that has not begun, and from an error", async () => {
  found = [];
  const first = render();
  expect(await screen.findByText("No incidents")).toBeTruthy();
  first.unmount();
  const second = render({ ...RUN, step: 0 });
  expect(await screen.findByText("No steps yet")).toBeTruthy();
  second.unmount();
  found = json(500, { title: "Internal error", detail: "The database is away.", status: 500 });
  render();
  expect(await screen.findByText("The database is away.")).toBeTruthy();
  expect(screen.queryByText("No incidents")).toBeNull();
});
