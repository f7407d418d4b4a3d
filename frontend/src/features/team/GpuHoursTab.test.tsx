import { screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { GpuHours } from "@/api/model";
import { renderWith } from "@/test/render";
import { GpuHoursTab } from "./GpuHoursTab";

const USED: GpuHours = {
  month: "2026-11",
  used: 82.25,
  limit: 100,
  percent: 82.25,
  resets_at: "2026-12-01T00:00:00.000Z",
  runs: [],
};

afterEach(() => vi.unstubAllGlobals());

async function open(found: GpuHours) {
  vi.stubGlobal("fetch", () =>
    Promise.resolve(
      new Response(JSON.stringify(found), { status: 200, headers: { "content-type": "application/json" } }),
    ),
  );
  renderWith(<GpuHoursTab />);
  return screen.findByTestId("gpu-hours");
}

it("shows what is used of the limit", async () => {
  const panel = await open(USED);
  expect(panel.textContent).toContain("82.25 h");
  expect(panel.textContent).toContain("100 h");
  expect(screen.getByRole("progressbar", { name: "82 % of the GPU hours are used" })).toBeTruthy();
  expect(screen.queryByText("This month’s GPU hours are used up")).toBeNull();
});

it("says when they are used up", async () => {
  await open({ ...USED, used: 101, percent: 101 });
  expect(screen.getByText("This month’s GPU hours are used up")).toBeTruthy();
});

it("shows no bar without a limit", async () => {
  const panel = await open({ ...USED, limit: null, percent: null });
  expect(panel.textContent).toContain("none");
  expect(screen.queryByRole("progressbar")).toBeNull();
});
