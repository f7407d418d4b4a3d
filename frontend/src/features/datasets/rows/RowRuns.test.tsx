import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { screen, within } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { RowHistory, RowRun } from "@/api/model";
import { renderWith } from "@/test/render";
import { RowRuns } from "./RowRuns";

const RUN: RowRun = {
  run_id: "run_1",
  name: "sums, warm",
  state: "succeeded",
  ref: "sums@2",
  prompt_id: "add:7",
  groups: 2,
  right: 3,
  graded: 8,
  tries: [
    { step: 1, right: 1, graded: 4, reward: 0.25, ordinal: 3, fate: "trained", reason: null },
    { step: 9, right: 2, graded: 4, reward: 0.5, ordinal: 70, fate: "rejected", reason: "truncated" },
  ],
  rollouts: 4,
};

afterEach(() => vi.unstubAllGlobals());

function show(answer: Response) {
  vi.stubGlobal("fetch", () => Promise.resolve(answer));
  const routeTree = createRootRoute({ component: () => <RowRuns datasetId="d1" version={1} index={7} /> });
  const router = createRouter({ routeTree, history: createMemoryHistory() });
  return renderWith(<RouterProvider router={router as never} />);
}
const found = (history: Partial<RowHistory>) =>
  Response.json({ runs: [], has_more: false, unsearched: [], ...history } satisfies RowHistory);

it("tells each run's share, its course, and where its completions are", async () => {
  show(found({ runs: [RUN, { ...RUN, run_id: "run_2", name: "cold", groups: 1, right: 0, graded: 0, rollouts: 0 }] }));
  const section = await screen.findByRole("region", { name: "In runs" });
  expect(await within(section).findByText(/sums@2 · 2 groups · 38 % correct/)).toBeTruthy();
  expect(screen.getByRole("link", { name: "sums, warm" }).getAttribute("href")).toBe("/runs/run_1");
  const completions = screen.getByRole("link", { name: "4 completions" }).getAttribute("href") ?? "";
  expect(new URL(completions, "http://x").searchParams.get("prompt")).toBe("add:7");
  expect(screen.getAllByRole("img", { name: "Pass rate from step 1 to 9" })).toHaveLength(2);
  expect(screen.getByText(/1 group · none graded$/)).toBeTruthy();
});

it("says that no run has sampled the row, that there are more, and what was not looked through", async () => {
  const view = show(found({}));
  expect(await screen.findByText("No run of this team has sampled this row.")).toBeTruthy();
  view.unmount();
  show(found({ runs: [RUN], has_more: true, unsearched: ["sums@9"] }));
  expect(await screen.findByText("Older runs sampled it too; the newest 1 are shown.")).toBeTruthy();
  expect(screen.getByText("Not searched in sums@9: too many versions, or too large.")).toBeTruthy();
});

it("shows an error where there is one, not emptiness", async () => {
  show(Response.json({ title: "Gone", detail: "It cannot be read." }, { status: 422 }));
  expect(await screen.findByText("It cannot be read.")).toBeTruthy();
  expect(screen.queryByText("No run of this team has sampled this row.")).toBeNull();
});
