import { expect, it } from "vitest";
import { batchLine, keyed, moved, rateAt, shadeOf, stacked, untried } from "./band";

const BAND = { low: 0.2, high: 0.8 };
const bins = (filled: Record<number, number>) => Array.from({ length: 20 }, (_, bin) => filled[bin] ?? 0);

it("moves an edge to the hundredth, and never past the other one", () => {
  expect(moved(BAND, "low", 0.3149)).toEqual({ low: 0.31, high: 0.8 });
  expect(moved(BAND, "low", 0.95)).toEqual({ low: 0.79, high: 0.8 });
  expect(moved(BAND, "low", -3)).toEqual({ low: 0, high: 0.8 });
  expect(moved(BAND, "high", 0.1)).toEqual({ low: 0.2, high: 0.21 });
  expect(moved(BAND, "high", 7)).toEqual({ low: 0.2, high: 1 });
  expect(moved({ low: 0, high: 0 }, "low", 0.5)).toEqual({ low: 0, high: 0 });
});

it("moves by keys: arrows by 0.01, pages by 0.05, and to the ends", () => {
  const after = (key: string) => keyed(BAND, "low", key)?.low;
  expect(["ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp"].map(after)).toEqual([0.19, 0.19, 0.21, 0.21]);
  expect(["PageDown", "PageUp", "Home", "End"].map(after)).toEqual([0.15, 0.25, 0, 0.79]);
  expect(keyed(BAND, "high", "End")).toEqual({ low: 0.2, high: 1 });
  for (const key of ["a", "Tab", "Enter", " "]) expect(keyed(BAND, "high", key)).toBeNull();
});

it("adds no dust to hundredths", () => {
  let band = { low: 0, high: 1 };
  for (let step = 1; step <= 99; step += 1) {
    band = keyed(band, "low", "ArrowRight") ?? band;
    expect(String(band.low)).toBe(String(step / 100));
  }
});

it("reads the pass rate under a pointer", () => {
  expect(rateAt(150, { left: 100, width: 200 })).toBe(0.25);
  expect(rateAt(150, { left: 100, width: 0 })).toBe(0);
});

it("stacks the sources' bars on each other", () => {
  const sources = [
    { name: "a", prompts: 10, untried: 3, bins: bins({ 0: 2, 19: 4 }) },
    { name: "b", prompts: 9, untried: 1, bins: bins({ 0: 6 }) },
  ];
  expect(stacked(sources)).toEqual([
    { bin: 0, source: 0, from: 0, to: 0.25 },
    { bin: 0, source: 1, from: 0.25, to: 1 },
    { bin: 19, source: 0, from: 0, to: 0.5 },
  ]);
  expect(untried(sources)).toBe(4);
  expect(stacked([{ name: "a", prompts: 3, untried: 3, bins: bins({}) }])).toEqual([]);
});

it("draws the next batch over its own highest bar", () => {
  const one = { name: "a", inside: 1, share: 1, untried: 0.25, bins: bins({ 3: 0.5, 4: 0.25 }) };
  expect(batchLine({ sources: [one], dead_share: 0, empty: [] }).slice(2, 6)).toEqual([0, 1, 0.5, 0]);
  expect(batchLine({ sources: [{ ...one, bins: bins({}) }], dead_share: null, empty: [] })).toEqual(bins({}));
});

it("shades a bar by its part in the band", () => {
  expect([3, 4, 15, 16].map(bin => shadeOf(bin, BAND).toFixed(6))).toEqual([
    "0.000000",
    "1.000000",
    "1.000000",
    "0.000000",
  ]);
  expect(shadeOf(0, { low: 0.02, high: 0.03 })).toBeCloseTo(0.2);
});
