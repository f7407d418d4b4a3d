import { describe, expect, it } from "vitest";
import type { Run } from "@/api/model";
import { costText, doing, phaseAge, shareDone, timeLeft } from "./phases";

const NOW = Date.parse("2026-11-21T06:00:14.000Z");
const SUMMARY = { eta_seconds: 60, eta_low_seconds: null, eta_high_seconds: null, p95_seconds: { generate: 11 } };

function working(progress: Partial<NonNullable<Run["progress"]>>) {
  const at = "2026-11-21T06:00:00.000Z";
  const made = { kind: "phase", phase: "generate", done: 0, total: 0, step: 3, at, since: at, ...progress };
  return { progress: made as Run["progress"], summary: SUMMARY as unknown as Run["summary"] };
}

describe("phaseAge", () => {
  it("is late beyond what 95 % of the run's own steps took", () => {
    expect(phaseAge(working({}), NOW)).toEqual({ age: 14, p95: 11, isLate: true });
    expect(phaseAge(working({}), NOW - 4000)).toEqual({ age: 10, p95: 11, isLate: false });
  });

  it("says nothing of what is not known", () => {
    expect(phaseAge(working({ phase: "evaluate" }), NOW)).toEqual({ age: 14, p95: null, isLate: false });
    expect(phaseAge(working({ since: null }), NOW)).toEqual({ age: null, p95: 11, isLate: false });
    expect(phaseAge({ ...working({}), progress: null }, NOW)).toEqual({ age: null, p95: null, isLate: false });
  });
});

it("has no bar where the worker counts nothing", () => {
  expect(shareDone(working({}).progress)).toBeNull();
  expect(shareDone(working({ total: 32 }).progress)).toBe(0);
  expect(shareDone(working({ done: 8, total: 32 }).progress)).toBe(0.25);
  expect(shareDone(null)).toBeNull();
});

describe("timeLeft", () => {
  const left = (low: number | null, high: number | null) =>
    timeLeft({ eta_seconds: 60, eta_low_seconds: low, eta_high_seconds: high });

  it("is a range, with its unit once", () => {
    expect(left(42, 55)).toBe("42 to 55 s");
    expect(left(42, 65)).toBe("42 s to 1 min 05 s");
    expect(left(7200, 9000)).toBe("2 h 00 min to 2 h 30 min");
  });

  it("is one time where there is no spread, or not yet", () => {
    expect(left(59.8, 60.2)).toBe("1 min 00 s");
    expect(left(null, null)).toBe("1 min 00 s");
  });
});

it("tells hours of GPUs, else of the place, and money only where there is a price", () => {
  const cost = { place_hours: 1.5, gpu_hours: 0, price: null, currency: null };
  expect(costText(cost)).toBe("1.50 h");
  expect(costText({ ...cost, gpu_hours: 12 })).toBe("12.0 GPU h");
  expect(costText({ ...cost, gpu_hours: 12, price: 30, currency: "EUR" })).toBe("12.0 GPU h · 30.00 EUR");
  expect(costText({ ...cost, price: 0, currency: "EUR" })).toBe("1.50 h");
});

it("says what a phase does", () => {
  expect(doing("generate")).toBe("generating");
  expect(doing("new_phase")).toBe("new phase");
});
