import { expect, it, vi } from "vitest";
import { renderWith } from "@/test/render";
import { LineChart } from "./LineChart";

const made = vi.hoisted(() => [] as { height: number; means: unknown }[]);

vi.mock("uplot", () => ({
  default: class {
    static readonly paths = {};
    readonly over = document.createElement("div");
    readonly cursor = {};
    constructor(options: { height: number }, data: unknown[]) {
      made.push({ height: options.height, means: data[1] });
    }
    setData() {}
    setSize() {}
    destroy() {}
  },
}));

const STEPS = [1, 2, 3];
const VALUES = [0.1, 0.2, 0.3];
const SERIES = [{ x: STEPS, mean: VALUES, min: VALUES, max: VALUES, count: [1, 1, 1], raw_count: 3, nan: [0, 0, 0] }];
const LINES = [{ key: "critic/score/mean", label: "train", color: 0 }];
const HIDDEN = new Set<string>();

const chart = (height: number) => (
  <LineChart
    label="Reward"
    lines={LINES}
    series={SERIES}
    steps={STEPS}
    xAxis="step"
    marks={[]}
    smoothing={0}
    log={false}
    range={null}
    syncKey="runs"
    height={height}
    hidden={HIDDEN}
    onZoom={() => undefined}
    onHide={() => undefined}
  />
);

it("has its lines when it is made anew for another height, as where a phone is turned", () => {
  const { update } = renderWith(chart(176));
  update(chart(112));
  expect(made).toEqual([
    { height: 176, means: VALUES },
    { height: 112, means: VALUES },
  ]);
});
