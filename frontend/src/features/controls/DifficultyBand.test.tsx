import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Curriculum, CurriculumPreview, Run, Target } from "@/api/model";
import { aControl } from "@/test/control";
import { renderWith } from "@/test/render";
import { DifficultyBand } from "./DifficultyBand";
import { DifficultyTarget } from "./DifficultyTarget";
import { Knob } from "./Knob";

const RUN = { id: "run_1", revision: 4, step: 10 } as Run;
const target = (path: string, value: number): Target => ({
  path,
  value,
  boundary: "group_dispatch",
  schema: { type: "number", minimum: 0, maximum: 1 },
});
const LOW = target("curriculum.min_pass_rate", 0.2);
const HIGH = target("curriculum.max_pass_rate", 0.8);
const bins = (filled: Record<number, number>) => Array.from({ length: 20 }, (_, bin) => filled[bin] ?? 0);
const CURRICULUM: Curriculum = {
  type: "difficulty_band",
  stage: null,
  group_size: 8,
  min_pass_rate: 0.2,
  max_pass_rate: 0.8,
  target_pass_rate: null,
  why: null,
  pass_rates: {
    step: 10,
    at: "2026-11-21T06:00:00.000Z",
    sources: [
      { name: "add", prompts: 100, untried: 20, bins: bins({ 0: 20, 10: 60 }) },
      { name: "mul", prompts: 50, untried: 0, bins: bins({ 19: 50 }) },
    ],
  },
};
const side = (inside: number, dead: number | null, empty: string[] = []): CurriculumPreview["now"] => ({
  sources: [
    { name: "add", inside, share: 2 / 3, untried: 0, bins: bins({ 10: 2 / 3 }) },
    { name: "mul", inside: 0, share: 1 / 3, untried: 0, bins: bins({ 19: 1 / 3 }) },
  ],
  dead_share: dead,
  empty,
});
const PREVIEW: CurriculumPreview = { step: 11, now: side(80, 0.5), draft: side(60, 0.25) };

interface Asked {
  url: string;
  body: { changes: { target: string; value: number }[]; reason?: string };
}
const asked: Asked[] = [];
let preview: () => Response;
const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

beforeEach(() => {
  window.sessionStorage.clear(); // drafts outlive a page
  asked.length = 0;
  preview = () => json(200, PREVIEW);
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    asked.push({ url, body: JSON.parse(String(init.body)) as Asked["body"] });
    const staged = { data: [aControl({ revision: 5, state: "staged", applied_step: null })] };
    return Promise.resolve(url.endsWith("/preview") ? preview() : json(202, staged));
  });
});
afterEach(() => vi.unstubAllGlobals());

const show = (curriculum: Curriculum | undefined, enabled = true, pending = false) =>
  renderWith(
    <Knob run={RUN} targets={[LOW, HIGH]} controls={[aControl({ revision: 4 })]} enabled={enabled} testId="difficulty">
      {state => <DifficultyBand {...{ curriculum, state, pending }} low={LOW} high={HIGH} others={[]} runId="run_1" />}
    </Knob>,
  );
const handle = (name: string) => screen.getByRole("slider", { name });
const values = () => ["Minimum pass rate", "Maximum pass rate"].map(name => handle(name).getAttribute("aria-valuenow"));
const sent = () => asked.filter(one => !one.url.endsWith("/preview"));
const drafted = () => asked.at(-1)?.body.changes.map(one => one.value);

it("moves its handles by keys, previews the draft, and applies it as one set", async () => {
  show(CURRICULUM);
  const user = userEvent.setup();
  await user.tab();
  expect(document.activeElement).toBe(handle("Minimum pass rate"));
  await user.keyboard("{ArrowRight}{PageUp}{Tab}{ArrowDown}a");
  expect(values()).toEqual(["0.26", "0.79"]);
  expect(handle("Minimum pass rate").getAttribute("aria-valuemax")).toBe("0.79");
  expect(handle("Maximum pass rate").getAttribute("aria-valuetext")).toBe("79 %");
  await waitFor(() => expect(drafted()).toEqual([0.26, 0.79]));
  expect(sent()).toEqual([]);
  await waitFor(() => expect(screen.getByTestId("band-preview").textContent).toContain("80 → 60"));
  expect(screen.getByTestId("band-dead").textContent).toBe("50.0 % → 25.0 %");
  expect(screen.getByText(/batch at step 11. Assumes constant pass rates/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Apply 2 changes" }));
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]?.body.changes).toEqual([
    { target: LOW.path, value: 0.26 },
    { target: HIGH.path, value: 0.79 },
  ]);
});

it("follows a pointer that holds a handle, and no other", async () => {
  show(CURRICULUM);
  const low = handle("Minimum pass rate");
  const plot = low.parentElement as HTMLElement;
  plot.getBoundingClientRect = () => ({ left: 100, width: 200 }) as DOMRect;
  low.setPointerCapture = () => {};
  fireEvent.pointerMove(low, { clientX: 200, pointerId: 1 });
  fireEvent.pointerDown(low, { button: 2, pointerId: 1 });
  fireEvent.pointerMove(low, { clientX: 200, pointerId: 1 });
  expect(values()).toEqual(["0.2", "0.8"]);
  fireEvent.pointerDown(low, { button: 0, pointerId: 1 });
  for (const clientX of [120, 180, 900, 163]) fireEvent.pointerMove(low, { clientX, pointerId: 1 });
  expect(values()).toEqual(["0.32", "0.8"]);
  fireEvent.pointerUp(low, { pointerId: 1 });
  fireEvent.pointerMove(low, { clientX: 110, pointerId: 1 });
  expect(values()).toEqual(["0.32", "0.8"]);
  await waitFor(() => expect(drafted()).toEqual([0.32, 0.8]));
});

it("warns of a source without prompts inside, and tells what the platform refuses", async () => {
  preview = () => json(200, { ...PREVIEW, draft: side(60, 0.25, ["mul"]) });
  const view = show(CURRICULUM);
  expect(await screen.findByText("mul: no prompt inside. Its prompts are drawn from outside the band.")).toBeTruthy();
  view.unmount();
  preview = () => json(422, { title: "Invalid request", detail: "no prompt of the source 'mul' lies in the band" });
  show(CURRICULUM);
  expect(await screen.findByText("no prompt of the source 'mul' lies in the band")).toBeTruthy();
});

it("shows no handle to move to who may not steer", () => {
  show(CURRICULUM, false);
  fireEvent.keyDown(handle("Minimum pass rate"), { key: "ArrowRight" });
  expect(values()).toEqual(["0.2", "0.8"]);
  expect(handle("Minimum pass rate").getAttribute("tabindex")).toBe("-1");
});

it("keeps the slider and says why where there are no pass rates", () => {
  show({ ...CURRICULUM, pass_rates: null, why: "Not told yet." });
  expect(screen.getByText("Not told yet.")).toBeTruthy();
  expect(screen.getByTestId("difficulty-band")).toBeTruthy();
  expect(asked).toEqual([]);
});

it("shows no slider that would be replaced while pass rates are asked for", () => {
  show(undefined, true, true);
  expect(screen.getByTestId("band-pending")).toBeTruthy();
  expect(screen.queryByTestId("difficulty-band")).toBeNull();
});

it("draws the target over the pass rates", () => {
  const aimed = target("curriculum.target_pass_rate", 0.4);
  const curriculum = { ...CURRICULUM, type: "difficulty_target", target_pass_rate: 0.4 };
  const state = { value: () => 0.4, set: vi.fn(), disabled: false };
  const view = renderWith(<DifficultyTarget target={aimed} curriculum={curriculum} state={state} />);
  expect(view.container.querySelector("svg line")?.getAttribute("x1")).toBe("8");
  expect(
    screen.getByRole("img", { name: "Pass rates of 130 prompts from 0 to 1; 20 were never sampled" }),
  ).toBeTruthy();
});
