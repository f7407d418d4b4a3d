import { screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Run } from "@/api/model";
import { renderWith } from "@/test/render";
import { RunsTable } from "./RunsTable";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ to, children }: { to: string; children: ReactNode }) => <a href={to}>{children}</a>,
  createLink: () => "a",
  useNavigate: () => () => {},
}));

const aRun = (id: string, more: object): Run =>
  ({
    id,
    name: `run ${id}`,
    state: "running",
    state_reason: "",
    health: { state: "ok", findings: [] },
    step: 10,
    total_steps: 20,
    policy: "starter",
    created_by: "ada",
    created_at: "2026-01-01T00:00:00Z",
    summary: { reward: null, eval: null, eta_seconds: null },
    ...more,
  }) as unknown as Run;
const RL = aRun("run_rl", { summary: { reward: 0.25, eval: null, eta_seconds: null } });
const SFT = aRun("run_sft", { objective: "sft" });
const asked: string[] = [];

beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal("fetch", (url: string) => {
    const { searchParams } = new URL(url, "http://console");
    const key = searchParams.get("keys") ?? "";
    asked.push(key);
    const series = { [key]: { x: [1, 2], mean: [3, 1.5], min: [], max: [], nan: [], raw_count: 2 } };
    return Promise.resolve(Response.json({ x: "step", series }));
  });
});
afterEach(() => vi.unstubAllGlobals());

const heads = () => screen.getAllByRole("columnheader").map(head => head.textContent);

it("shows the loss of a run without rewards, and what it learns from", async () => {
  renderWith(<RunsTable runs={[RL, SFT]} chosen={[]} onChoose={() => {}} />);
  expect(await screen.findByText(/^1\.5/)).toBeTruthy();
  expect(screen.getByText("0.25")).toBeTruthy();
  expect(asked.sort()).toEqual(["critic/score/mean", "sft/loss"]);
  expect(screen.getAllByTestId("objective-label").map(one => one.textContent)).toEqual(["SFT"]);
  expect(heads()).toContain("Result");
});

it("speaks of rewards where all runs have them", () => {
  renderWith(<RunsTable runs={[RL]} chosen={[]} onChoose={() => {}} />);
  expect(heads()).toContain("Reward");
  expect(screen.queryByTestId("objective-label")).toBeNull();
});
