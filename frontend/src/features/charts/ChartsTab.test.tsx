import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import type { Run } from "@/api/model";
import { deferred } from "@/test/deferred";
import { renderWith } from "@/test/render";
import { ChartsTab } from "./ChartsTab";

vi.mock("@tanstack/react-router", () => ({ useSearch: () => ({}), useNavigate: () => vi.fn() }));

const RUN = { id: "run_1", state: "running", step: 2, attempt: 1 } as Run;
const NAMES = { object: "list", data: [{ name: "critic/score/mean" }] };
const METRICS = {
  x: "step",
  series: { "critic/score/mean": { x: [1, 2], min: [0, 1], mean: [0, 1], max: [0, 1], raw_count: 2, nan: [] } },
};
const EMPTY = { object: "list", data: [], has_more: false, next: null };

/** Parts of the platform that fail. */
let broken: Set<string>;

function answer(url: string): Response {
  const path = url.split("?")[0] ?? "";
  const part = path.split("/").at(-1) ?? "";
  if (broken.has(part)) {
    const problem = { title: "Internal error", detail: "The metrics could not be read.", status: 500 };
    return new Response(JSON.stringify(problem), {
      status: 500,
      headers: { "Content-Type": "application/problem+json" },
    });
  }
  const found = path.endsWith("/metrics/names") ? NAMES : path.endsWith("/metrics") ? METRICS : EMPTY;
  return new Response(JSON.stringify(found));
}

beforeEach(() => {
  broken = new Set();
  vi.stubGlobal("fetch", (url: string) => Promise.resolve(answer(url)));
});

it.each([["metrics"], ["names"]])(
  "tells that the %s could not be read, and reads them again when asked",
  async part => {
    broken.add(part);
    renderWith(<ChartsTab run={RUN} />);
    expect((await screen.findByRole("alert")).textContent).toContain("The metrics could not be read.");
    expect(screen.queryByText("No points yet")).toBeNull();
    expect(screen.queryByTestId("chart-reward")).toBeNull();

    broken.clear();
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByTestId("chart-reward");
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
    expect(screen.queryByText("No points yet")).toBeNull();
  },
);

it("says that there are no points where the platform says so", async () => {
  vi.stubGlobal("fetch", (url: string) =>
    Promise.resolve(
      url.includes("/metrics") && !url.includes("names") ? new Response('{"x":"step","series":{}}') : answer(url),
    ),
  );
  renderWith(<ChartsTab run={RUN} />);
  expect((await screen.findAllByText("No points yet")).length).toBeGreaterThan(0);
  expect(screen.queryByRole("alert")).toBeNull();
});

const ENTRY = { title: "Mean reward", unit: "", formula: "sum / n", group: "reward" };
const NEW = { name: "perf/new", title: "Newly measured", unit: "s", formula: "b - a", group: "speed" };

it("draws metrics that no chart names, and pinned charts first", async () => {
  localStorage.clear();
  vi.stubGlobal("fetch", (url: string) =>
    Promise.resolve(
      url.includes("/metrics/names")
        ? Response.json({ object: "list", data: [{ name: "critic/score/mean", ...ENTRY }, NEW] })
        : url.includes("/metrics?")
          ? Response.json({
              x: "step",
              series: Object.fromEntries(
                (new URL(url, "http://x").searchParams.get("keys") ?? "")
                  .split(",")
                  .map(key => [key, METRICS.series["critic/score/mean"]]),
              ),
            })
          : answer(url),
    ),
  );
  const view = renderWith(<ChartsTab run={RUN} />);
  const more = await screen.findByTestId("more-charts");
  expect(within(more).getByRole("heading", { name: "Speed" })).toBeTruthy();
  expect(within(more).queryByText("Mean reward")).toBeNull();
  await screen.findByTestId("chart-reward");
  view.unmount();

  localStorage.setItem("dressage.pinned-charts", JSON.stringify(["metric-perf-new", "entropy", "gone"]));
  renderWith(<ChartsTab run={RUN} />);
  await screen.findByTestId("chart-reward");
  const shown = [...document.querySelectorAll("[data-testid^=chart-]")].map(one => one.getAttribute("data-testid"));
  expect(shown.slice(0, 2)).toEqual(["chart-metric-perf-new", "chart-reward"]);
  expect(screen.queryByTestId("more-charts")).toBeNull();
  await userEvent.click(within(screen.getByTestId("chart-reward")).getByRole("button", { name: "Pin" }));
  expect(JSON.parse(localStorage.getItem("dressage.pinned-charts") ?? "")).toContain("reward");
  const handle = within(screen.getByTestId("chart-reward")).getByRole("button", { name: /^Move / });
  handle.focus();
  await userEvent.keyboard("{ArrowRight}{ArrowLeft}");
  const moved = ["reward", "metric-perf-new", "entropy", "gone"];
  expect(JSON.parse(localStorage.getItem("dressage.pinned-charts") ?? "")).toEqual(moved);

  // A finger cannot drag: it chooses a place.
  await userEvent.click(handle);
  expect(await screen.findByRole("menuitem", { name: "Move to front" })).toHaveProperty("disabled", true);
  await userEvent.click(screen.getByRole("menuitem", { name: "Move back" }));
  expect(JSON.parse(localStorage.getItem("dressage.pinned-charts") ?? "")).toEqual([
    "metric-perf-new",
    "reward",
    "entropy",
    "gone",
  ]);
});

it("draws the charts on top before all others have come", async () => {
  localStorage.clear();
  const sources = Array.from({ length: 20 }, (_, place) => `train/pass_rate/source_${place}`);
  const { promise: others, resolve: come } = deferred<undefined>();
  const asked: number[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    if (url.includes("/metrics/names")) {
      const names = ["critic/score/mean", "actor/entropy", "actor/grad_norm", ...sources];
      return Response.json({ object: "list", data: names.map(name => ({ ...ENTRY, name })) });
    }
    if (!url.includes("/metrics?")) return answer(url);
    const keys = (new URL(url, "http://x").searchParams.get("keys") ?? "").split(",");
    asked.push(keys.length);
    if (keys.includes("actor/grad_norm")) await others;
    const series = Object.fromEntries(keys.map(key => [key, METRICS.series["critic/score/mean"]]));
    return Response.json({ x: "step", series });
  });
  renderWith(<ChartsTab run={RUN} />);
  await screen.findByTestId("chart-reward");
  expect(screen.getByTestId("chart-pass-rate")).toBeTruthy();
  expect(screen.queryByTestId("chart-gradient")).toBeNull();
  come(undefined);
  await screen.findByTestId("chart-gradient");
  expect(asked).toEqual([23, 22]);
});
