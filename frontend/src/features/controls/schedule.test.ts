import { describe, expect, it } from "vitest";
import { canRamp, NOW, type Schedule, scheduleFault, whenOf } from "./schedule";

const CHANGE = [{ before: 1, value: 0.6 }];
const at = (text: string): Schedule => ({ kind: "at", at: text, steps: "" });
const ramp = (steps: string, begin = ""): Schedule => ({ kind: "ramp", at: begin, steps });
const fault = (schedule: Schedule, changes: Parameters<typeof scheduleFault>[1] = CHANGE) =>
  scheduleFault(schedule, changes, 10, 40);

it("asks for the next occasion, a step, or a ramp", () => {
  expect(whenOf(NOW)).toEqual({ apply_at: "next", ramp_steps: null });
  expect(whenOf({ ...NOW, at: "20", steps: "5" })).toEqual({ apply_at: "next", ramp_steps: null });
  expect(whenOf(at("20"))).toEqual({ apply_at: 20, ramp_steps: null });
  expect(whenOf(ramp("5"))).toEqual({ apply_at: "next", ramp_steps: 5 });
  expect(whenOf(ramp("5", "20"))).toEqual({ apply_at: 20, ramp_steps: 5 });
});

describe("scheduleFault", () => {
  it("wants a step that is still to come", () => {
    expect(fault(NOW)).toBeNull();
    expect(fault(at("11"))).toBeNull();
    expect(fault(at("40"))).toBeNull();
    for (const text of ["", "10", "41", "11.5", "soon"]) {
      expect(fault(at(text))).toBe("The step must be between 11 and 40.");
    }
  });

  it("wants a ramp that ends with the run at the latest", () => {
    expect(fault(ramp("30"))).toBeNull();
    expect(fault(ramp("2", "39"))).toBeNull();
    for (const text of ["", "1", "31", "2.5"]) expect(fault(ramp(text))).toBe("A ramp takes 2 to 30 steps.");
    expect(fault(ramp("3", "39"))).toBe("A ramp takes 2 to 2 steps.");
    expect(fault(ramp("2", "40"))).toBe("There are too few steps left for a ramp.");
  });

  it("moves numbers alone", () => {
    expect(fault(ramp("5"), [{ before: null, value: 3 }])).toBe("Only numbers can be ramped.");
    expect(canRamp([{ before: null, value: 3 }])).toBe(false);
    expect(canRamp([])).toBe(false);
    expect(canRamp(CHANGE)).toBe(true);
  });
});
