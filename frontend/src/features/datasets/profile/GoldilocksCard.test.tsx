import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Dataset, DatasetVersion, Goldilocks, GoldilocksReport } from "@/api/model";
import { renderWith } from "@/test/render";
import { GoldilocksCard } from "./GoldilocksCard";

vi.mock("@tanstack/react-router", () => ({
  useNavigate: () => vi.fn(),
  createLink: () => (props: { children: ReactNode }) => <a href="#made">{props.children}</a>,
}));

const SESSION = { role: "editor", user: null, team: null, teams: [] };
const PLAN = { budget: 120, min_pass_rate: 0.1, max_pass_rate: 0.9 } as Goldilocks["stages"][number]["plan"];
const REPORT: GoldilocksReport = {
  rows: 10,
  kept: 4,
  stages: [
    {
      stage: "first",
      profile: "prf_1",
      policy: "small",
      reused: false,
      min_pass_rate: 0.1,
      max_pass_rate: 0.9,
      samples: 120,
      inside: 5,
      outside: [
        { reason: "never", rows: 3 },
        { reason: "always", rows: 2 },
      ],
    },
  ],
  dropped_by_first: 5,
  dropped_by_second: 0,
  suspects: 1,
  suspects_left_out: 1,
  returned: 0,
};
const STAGE_ONE: Goldilocks = {
  id: "gld_1",
  state: "done",
  error: null,
  version: "sums@1",
  spec: {
    policy: { base: "small" },
    reward: { definition: "exact@1" },
    data: { sources: [{ name: "rows", dataset: "sums@1", weight: 1, format: { chat: false, system: "Add." } }] },
    rollout: { max_tokens: 32, temperature: 0.7, engine: { max_model_len: 96, dtype: "float32" } },
  },
  threshold: 0.75,
  outside_first: "may_return",
  suspects: "leave_out",
  stages: [{ stage: "first", policy: "small", plan: PLAN, profile: "prf_1", reused: false }],
  report: REPORT,
  made: { dataset_id: "dset_1", number: 2, ref: "sums@2", rows: 4 },
  created_at: "2026-01-01T00:00:00Z",
  finished_at: "2026-01-01T00:01:00Z",
  created_by: "eve@example.org",
};
const COST = { min_seconds: null, max_seconds: null, measured_by: null, tokens_per_sample: 32 };
const SAMPLED = { ...COST, rows: 10, min_samples: 40, max_samples: 120, min_tokens: 1280, max_tokens: 3840 };

let jobs: Goldilocks[];
let sent: Record<string, unknown>[];
let refused: { pointer: string; detail: string }[];

beforeEach(() => {
  [jobs, sent, refused] = [[], [], []];
  vi.stubGlobal("fetch", (url: string, init?: RequestInit) => {
    if (init?.method === "POST") {
      const body = JSON.parse(String(init.body)) as Record<string, unknown>;
      sent.push(body);
      if (refused.length > 0)
        return Promise.resolve(Response.json({ detail: "No.", errors: refused }, { status: 422 }));
      const first = { stage: "first", policy: "small", reuses: null, profile: null, samples: null, cost: SAMPLED };
      const stored = { ...first, reuses: "stored", profile: "prf_1", samples: 120, cost: null };
      const second = { ...first, stage: "second", policy: "strong" };
      const stages = body.second === null ? [first] : [stored, second];
      return Promise.resolve(Response.json({ cost: { stages, warnings: [] }, job: null }));
    }
    const found = /goldilocks/.test(url)
      ? { data: jobs }
      : /policies/.test(url)
        ? { data: ["small", "strong"].map(slug => ({ slug, name: slug })) }
        : /rewards/.test(url)
          ? { data: [{ latest_version: { ref: "exact@1" } }] }
          : /profiles/.test(url)
            ? { id: "prf_1", state: "done", version: "sums@1", report: { reads_answers: true, suspects: [] } }
            : SESSION;
    return Promise.resolve(Response.json(found));
  });
});
afterEach(() => vi.unstubAllGlobals());

const show = () =>
  renderWith(
    <GoldilocksCard
      dataset={{ id: "dset_1", slug: "sums", name: "Sums", latest_version: { number: 1 } } as Dataset}
      version={{ number: 1, rows: 10 } as DatasetVersion}
    />,
  );

async function choose(label: string, option: string) {
  const user = userEvent.setup();
  await user.click(await screen.findByLabelText(label, { selector: "input" }));
  await user.click((await screen.findAllByText(option)).at(-1) as HTMLElement);
}

it("asks for stage one alone, and tells its cost before it begins", async () => {
  const user = userEvent.setup();
  show();
  await user.click(await screen.findByText("Stage one only"));
  expect(screen.queryByLabelText("Second policy", { selector: "input" })).toBeNull();
  expect(screen.getByRole("button", { name: "Estimate cost" }).hasAttribute("disabled")).toBe(true);
  await choose("First policy", "small");
  await choose("Reward", "exact@1");
  expect(screen.getByRole("button", { name: "Start stage one" }).hasAttribute("disabled")).toBe(true);
  await user.click(screen.getByRole("button", { name: "Estimate cost" }));
  expect((await screen.findByTestId("goldilocks-cost")).textContent).toContain(
    "Stage one, small: 40 to 120 samples of 10 rows",
  );
  await user.click(screen.getByRole("button", { name: "Start stage one" }));
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[0]).toMatchObject({
    dry_run: true,
    second: null,
    plan: { budget: 120, min_pass_rate: 0.05, max_pass_rate: 0.95 },
    outside_first: "may_return",
    suspects: "leave_out",
    reuse: true,
  });
  expect(sent[1]).toEqual(Object.fromEntries(Object.entries(sent[0] ?? {}).filter(([key]) => key !== "dry_run")));
});

it("offers stage two with all that stage one was asked for, and says that this costs nothing", async () => {
  const user = userEvent.setup();
  jobs = [STAGE_ONE];
  show();
  const found = await screen.findByTestId("goldilocks-found");
  expect(found.textContent).toContain("4 of 10 rows");
  expect(found.textContent).toContain("5 inside 10 % to 90 %; 3 never solved, 2 always solved");
  expect(found.textContent).toContain("1, 1 left out");
  await user.click(screen.getByRole("button", { name: "Continue with stage two" }));
  await choose("Second policy", "strong");
  await user.click(screen.getByRole("button", { name: "Estimate cost" }));
  expect((await screen.findByTestId("goldilocks-cost")).textContent).toContain(
    "Stage one, small: reuses a stored profile of 120 samples at no cost.",
  );
  expect(sent[0]).toMatchObject({
    spec: STAGE_ONE.spec,
    plan: PLAN,
    second: { policy: "strong", plan: PLAN },
    threshold: 0.75,
  });
});

it("shows at its field why a stage cannot be", async () => {
  const user = userEvent.setup();
  jobs = [STAGE_ONE];
  refused = [{ pointer: "/second/policy", detail: "There is no such policy." }];
  show();
  await user.click(await screen.findByRole("button", { name: "Continue with stage two" }));
  await choose("Second policy", "strong");
  await user.click(screen.getByRole("button", { name: "Estimate cost" }));
  expect(await screen.findByText("There is no such policy.")).toBeTruthy();
  expect(screen.getByLabelText("Second policy", { selector: "input" }).getAttribute("aria-invalid")).toBe("true");
  expect(screen.queryByText("No.")).toBeNull();
});

it("makes a dataset of a name, and shows at the name why it cannot be", async () => {
  const user = userEvent.setup();
  jobs = [STAGE_ONE];
  show();
  await user.click(await screen.findByRole("button", { name: "Continue with stage two" }));
  await choose("Second policy", "strong");
  await choose("Result", "A new dataset");
  const name = screen.getByLabelText("Name of the new dataset");
  expect(name).toHaveProperty("value", "Sums in the band");
  const ask = () => screen.getByRole("button", { name: "Estimate cost" });
  await user.clear(name);
  expect(ask().hasAttribute("disabled")).toBe(true);
  await user.type(name, " Just right ");
  refused = [{ pointer: "/into/slug", detail: "This slug is taken." }];
  await user.click(ask());
  expect(await screen.findByText("This slug is taken.")).toBeTruthy();
  expect(sent[0]).toMatchObject({ into: { name: "Just right" } });
  await choose("Result", "Next version of sums");
  expect(screen.queryByText("This slug is taken.")).toBeNull();
  refused = [];
  await user.click(ask());
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]).toMatchObject({ into: null });
});

it("says why the last one failed, and keeps the form at hand", async () => {
  jobs = [{ ...STAGE_ONE, state: "failed", error: "Stage one has failed: no engine.", made: null, report: null }];
  show();
  expect((await screen.findByRole("alert")).textContent).toContain("Stage one has failed: no engine.");
  expect(screen.getByText("The last job created no version.")).toBeTruthy();
  expect(await screen.findByRole("button", { name: "Retry" })).toBeTruthy();
});
