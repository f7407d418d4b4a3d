import { expect, it } from "vitest";
import { CHARTS, chartKeys } from "./charts";

const lines = (id: string, names: string[]) => CHARTS.find(chart => chart.id === id)?.lines(names);

it("draws each source and the stage that a run reports", () => {
  const names = ["data/share/gsm8k", "data/share/mgsm", "curriculum/stage", "train/mix/gsm8k"];
  expect(lines("data-share", names)).toMatchObject([
    { key: "data/share/gsm8k", label: "gsm8k", color: 0 },
    { key: "data/share/mgsm", label: "mgsm", color: 1 },
    { key: "curriculum/stage", stepped: true, axis: "right" },
  ]);
  expect(chartKeys(names)).toEqual(["curriculum/stage", "data/share/gsm8k", "data/share/mgsm"]);
});

it("names the bands of difficulty", () => {
  const names = ["difficulty/all_wrong/0-20", "difficulty/all_wrong/80-100", "difficulty/all_wrong/untried"];
  expect(lines("difficulty-all-wrong", names)?.map(line => line.label)).toEqual([
    "0–20 %",
    "80–100 %",
    "never sampled",
  ]);
  expect(lines("difficulty-all-right", names)).toEqual([]);
});

it("has the charts of a heading side by side, at the end", () => {
  const groups = CHARTS.map(chart => chart.group);
  const first = groups.indexOf("Data");
  expect(first).toBeGreaterThan(0);
  expect(new Set(groups.slice(first))).toEqual(new Set(["Data"]));
});
