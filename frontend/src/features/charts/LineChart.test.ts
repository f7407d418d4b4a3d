// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { legendValue } from "./LineChart";
import { chartOptions, lone, tickLabels } from "./options";

const still = { drawn: () => ({ marks: [], nan: [], range: null }), onCursor() {}, onZoom() {}, onDraw() {} };

it("shows in the legend what was recorded at the crosshair, and nothing else", () => {
  const column = [0.5, null, undefined, 0.7];
  expect([0, 1, 2, 3, 9].map(cursor => legendValue(column, cursor))).toEqual([0.5, null, null, 0.7, null]);
  expect(legendValue(column, null)).toBe(0.7);
  expect(legendValue([...column, null], null)).toBeNull();
});

it("finds values that no line leads to", () => {
  expect(lone([1, null, 2, 3, null, null, 4])).toEqual([0, 6]);
  expect(lone([1, undefined, 2, null, undefined, 3, undefined])).toEqual([5]);
  expect(lone([5])).toEqual([0]);
  expect(lone([])).toEqual([]);
});

it("lets no line of uPlot span a gap", () => {
  const lines = [
    { key: "budget", label: "budget", color: 3, stepped: true },
    { key: "eval", label: "eval", color: 1, rare: true },
  ];
  const options = chartOptions({ lines, xAxis: "step", log: false, width: 300, height: 196, syncKey: "run", ...still });
  expect(options.series.filter(one => one.spanGaps)).toEqual([]);
});

it.each([
  [
    [0.5, 1, 1.5],
    ["0.5", "1", "1.5"],
  ],
  [
    [0.9996, 0.9998, 1, 1.0002],
    ["0.9996", "0.9998", "1", "1.0002"],
  ],
  [
    [1, 1.00001, 1.00002],
    ["1", "1.00001", "1.00002"],
  ],
  [
    [1, 1 + 2e-8, 1 + 4e-8],
    ["1", "+2e−8", "+4e−8"],
  ],
  [
    [-1.0002, -1],
    ["−1.0002", "−1"],
  ],
  [
    [20_000, 20_001],
    ["20k", "+1"],
  ],
  [
    [1, null, 10],
    ["1", "", "10"],
  ],
  [[], []],
])("tells the ticks %j apart", (splits, labels) => {
  expect(tickLabels(splits)).toEqual(labels);
});

it("puts ticks of an axis of steps at whole steps alone", () => {
  const options = (xAxis: "step" | "time") =>
    chartOptions({ lines: [], xAxis, log: false, width: 300, height: 196, syncKey: "run", ...still }).axes?.[0]?.incrs;
  expect(options("step")).toEqual(expect.arrayContaining([1, 2, 5, 10, 20, 50, 1_000_000]));
  expect((options("step") as number[]).every(Number.isInteger)).toBe(true);
  expect(options("time")).toBeUndefined();
});
