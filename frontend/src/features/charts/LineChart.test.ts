// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { legendValue } from "./LineChart";
import { chartOptions, lone } from "./options";

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
  const still = { drawn: () => ({ marks: [], nan: [], range: null }), onCursor() {}, onZoom() {}, onDraw() {} };
  const options = chartOptions({ lines, xAxis: "step", log: false, width: 300, height: 196, syncKey: "run", ...still });
  expect(options.series.filter(one => one.spanGaps)).toEqual([]);
});
