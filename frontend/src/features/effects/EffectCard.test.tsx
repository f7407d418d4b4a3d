import { screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ControlEffect, MetricEffect, Run } from "@/api/model";
import { aControl } from "@/test/control";
import { renderWith } from "@/test/render";
import { EffectCard } from "./EffectCard";
import { picture, signed, verdict } from "./verdict";

const RUN = { id: "run_1", revision: 4, step: 30, state: "running" } as Run;
const metric = (name: string, title: string, unit: string, more: Partial<MetricEffect> = {}): MetricEffect => ({
  name,
  title,
  unit,
  before: 200,
  after: 80,
  expected: 200,
  change: -120,
  low: -140,
  high: -100,
  moved: true,
  values_before: 10,
  values_after: 10,
  steps: [9, 10, 11, 12, 13],
  values: [190, 210, 150, 90, 70],
  ...more,
});
const KNOWN: ControlEffect = {
  controls: ["ctl_1"],
  status: "known",
  why: null,
  needed: 8,
  applied_step: 11,
  settled_step: 12,
  before: { first: 1, last: 10, steps: 10 },
  after: { first: 12, last: 21, steps: 10 },
  cuts: ["Another change at step 22 (revision 5) ends the window after."],
  targets: [
    metric("response_length/mean", "Response length", "tokens"),
    metric("critic/score/mean", "Reward", "reward", { change: 0.01, low: -0.02, high: 0.04, moved: false }),
  ],
  others: [],
  others_moved: 0,
  compared: 43,
  method: "Lines are carried on.",
};
const EARLY: ControlEffect = {
  ...KNOWN,
  status: "early",
  why: "Too early to say: 3 of 8 steps.",
  targets: [metric("critic/score/mean", "Reward", "reward", { change: null, low: null, high: null, values_after: 3 })],
  cuts: [],
  compared: 0,
};

const asked: string[] = [];
let answer: () => Response;
const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

beforeEach(() => {
  asked.length = 0;
  answer = () => json(200, KNOWN);
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    return Promise.resolve(answer());
  });
});
afterEach(() => vi.unstubAllGlobals());

const show = () => renderWith(<EffectCard run={RUN} control={aControl({ id: "ctl_1", state: "settled" })} />);

it("says what has moved, and what has not", async () => {
  show();
  const said = await screen.findByTestId("effect-verdict");
  expect(said.textContent).toBe(
    "Response length −120 tokens [−140, −100]; of 43 other metrics none moved beyond its noise.",
  );
  expect(asked).toEqual(["/api/v1/runs/run_1/controls/ctl_1/effect"]);
  const [length, reward] = screen.getAllByTestId("effect-metric");
  expect(length?.dataset.moved).toBe("true");
  expect(reward?.dataset.moved).toBe("false");
  expect(within(reward as HTMLElement).getByText("+0.01 [−0.02, +0.04]")).toBeTruthy();
  expect(screen.getByText("Steps 1 to 10 against 12 to 21.")).toBeTruthy();
  expect(screen.getByText("Another change at step 22 (revision 5) ends the window after.")).toBeTruthy();
  expect(screen.getByText("Lines are carried on.")).toBeTruthy();
});

it("says that it is too early, with what is there", async () => {
  answer = () => json(200, EARLY);
  show();
  expect((await screen.findByTestId("effect-verdict")).textContent).toBe("Too early to say: 3 of 8 steps.");
  expect(screen.getByText("10 and 3 of 8 values")).toBeTruthy();
  expect(screen.queryByText("How this is calculated")).toBeNull();
});

it("shows an error as one, not as a change without effect", async () => {
  answer = () => json(404, { title: "Not found", detail: "There is no such control.", error: { code: "not_found" } });
  show();
  expect(await screen.findByText(/There is no such control/)).toBeTruthy();
  expect(screen.queryByTestId("effect-verdict")).toBeNull();
});

it("counts what moved as well", () => {
  const other = metric("perf/throughput", "Throughput", "tokens/s");
  expect(verdict({ ...KNOWN, targets: [], others: [other], others_moved: 1 })).toBe(
    "Of 43 other metrics 1 also moved.",
  );
  expect(verdict({ ...KNOWN, others: [other], others_moved: 9, targets: KNOWN.targets.slice(1) })).toBe(
    "No target metric has moved; of 43 other metrics 9 also moved, 1 listed.",
  );
});

it("writes changes with their sign", () => {
  expect([0.04, -120, 0, null].map(signed)).toEqual(["+0.04", "−120", "0", "–"]);
});

it("draws the windows, the batches of both revisions, and the noise where nothing had happened", () => {
  const drawn = picture(KNOWN.targets[0] as MetricEffect, KNOWN);
  expect(drawn?.before).toHaveLength(2);
  expect(drawn?.after).toHaveLength(2);
  expect(drawn?.drain).toEqual([0.25, 0.75]);
  expect(drawn?.noise?.low).toBeCloseTo((180 - 70) / 150);
  expect(drawn?.noise?.high).toBe(1);
  expect(picture(KNOWN.targets[0] as MetricEffect, { ...KNOWN, before: null })).toBeNull();
});
