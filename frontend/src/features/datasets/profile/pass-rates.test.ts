import { expect, it } from "vitest";
import { BINS, histogram, partsOf } from "./pass-rates";

const STATES = [
  { samples: 4, correct: 0, rows: 5 },
  { samples: 4, correct: 4, rows: 7 },
  { samples: 5, correct: 1, rows: 2 },
  { samples: 10, correct: 8, rows: 1 },
];

it("puts every row into one bin", () => {
  const bins = histogram(STATES);
  expect(bins).toHaveLength(BINS);
  expect([bins[0], bins[4], bins[16], bins[19]]).toEqual([5, 2, 1, 7]);
  expect(bins.reduce((sum, rows) => sum + rows, 0)).toBe(15);
});

it("counts edges as inside the band", () => {
  expect(partsOf(STATES, [0.2, 0.8])).toEqual({ harder: 5, inside: 3, easier: 7 });
  expect(partsOf(STATES, [0.25, 0.75])).toEqual({ harder: 7, inside: 0, easier: 8 });
  expect(partsOf(STATES, [0, 1])).toEqual({ harder: 0, inside: 15, easier: 0 });
});
