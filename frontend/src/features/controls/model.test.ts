import { describe, expect, it } from "vitest";
import { Problem } from "@/api/http";
import type { Control, Json, JsonSchema, Target } from "@/api/model";
import {
  changes,
  conflictOf,
  faultOf,
  inForce,
  lastFor,
  marked,
  progressText,
  rewardCut,
  shareCut,
  shares,
  valueAt,
} from "./model";

const control = (change: Partial<Control>): Control => ({
  id: "ctl_1",
  revision: 1,
  change_set: null,
  ramp_steps: null,
  target: "thinking.budget",
  boundary: "group_dispatch",
  before: null,
  value: 8,
  state: "staged",
  apply_at: "next",
  reason: "",
  actor: "ada@example.com",
  created_at: "2026-11-21T06:00:00Z",
  reverts: null,
  checkpoint: null,
  applied_step: null,
  applied_group: null,
  settled_step: null,
  error: null,
  ...change,
});
const target = (path: string, value: Target["value"]): Target => ({
  path,
  boundary: "group_dispatch",
  value,
  schema: { type: "number" },
});

describe("progress", () => {
  it.each([
    [{}, "staged, waiting for the worker"],
    [{ apply_at: 40 }, "staged for step 40"],
    [{ state: "applied", applied_step: 12, applied_group: "12-3" }, "applied at step 12 (group 12-3), settling"],
    [{ state: "settled", applied_step: 12, settled_step: 13 }, "applied at step 12, settled at step 13"],
    [{ state: "rejected", error: "no reference policy" }, "rejected: no reference policy"],
  ] as [Partial<Control>, string][])("%o", (change, text) => expect(progressText(control(change))).toBe(text));

  it("is a line on the charts only once the worker has confirmed a step", () => {
    const all = [
      control({ id: "staged" }),
      control({ id: "applied", state: "applied", applied_step: 5 }),
      control({ id: "settled", state: "settled", applied_step: 3, settled_step: 4 }),
      control({ id: "rejected", state: "rejected" }),
    ];
    expect(marked(all).map(one => one.id)).toEqual(["applied", "settled"]);
  });

  it("goes quiet a while after it has settled", () => {
    const settled = control({ state: "settled", applied_step: 10, settled_step: 11 });
    expect(lastFor([settled], "thinking.budget", 30)).toBe(settled);
    expect(lastFor([settled], "thinking.budget", 32)).toBeUndefined();
  });
});

describe("changes", () => {
  it("compares with what is staged, where something is", () => {
    const targets = [target("thinking.budget", null)];
    expect(changes({ "thinking.budget": 8 }, targets, [])).toEqual([{ target: "thinking.budget", value: 8 }]);
    expect(changes({ "thinking.budget": 8 }, targets, [control({ value: 8 })])).toEqual([]);
    expect(changes({ "thinking.budget": null }, targets, [control({ value: 8 })])).toHaveLength(1);
  });

  it("sends them in the order of the targets: the platform judges them together", () => {
    const targets = [target("curriculum.min_pass_rate", 0.1), target("curriculum.max_pass_rate", 0.3)];
    const drafts = { "curriculum.max_pass_rate": 0.9, "curriculum.min_pass_rate": 0.6 };
    expect(changes(drafts, targets, []).map(one => one.target)).toEqual(targets.map(one => one.path));
  });
});

it("reads what is in force from the spec, by name or type of list members", () => {
  const spec = {
    data: { sources: [{ name: "mul", weight: 0.3 }] },
    corrections: [{ type: "truncated_is", ratio_max: 2 }],
  };
  expect(valueAt(spec, "data.sources.mul.weight")).toBe(0.3);
  expect(valueAt(spec, "corrections.truncated_is.ratio_max")).toBe(2);
  expect(valueAt(spec, "data.sources.add.weight")).toBeUndefined();
  expect(inForce([target("data.sources.mul.weight", 0.9)], spec)[0]?.value).toBe(0.3);
});

it("reads the other person's change from a 412", () => {
  const problem = new Problem(412, { revision: 3, changes: [control({ revision: 3, value: 16 })] });
  expect(conflictOf(problem)).toMatchObject([{ value: 16, actor: "ada@example.com" }]);
  expect(conflictOf(new Problem(412, {}))).toEqual([]);
  expect(conflictOf(new Problem(409, { changes: [control({})] }))).toEqual([]);
  expect(conflictOf(null)).toEqual([]);
});

it("previews a budget and a mixture", () => {
  const rows = (...lengths: number[]) => lengths.map(length => ({ thinking_tokens: length, budget_hit: false }));
  const hit = (length: number) => ({ thinking_tokens: length, budget_hit: true });
  expect(shareCut(rows(2, 4, 8, 16), 4)).toEqual({ certain: 0.5, unknown: 0 });
  expect(shareCut([...rows(2, 4, 3), hit(4)], 4)).toEqual({ certain: 0.25, unknown: 0 });
  expect(shareCut([...rows(2, 4, 9), hit(4)], 8)).toEqual({ certain: 0.25, unknown: 0.25 });
  expect(shareCut(rows(2, 4), null)).toEqual({ certain: 0, unknown: 0 });
  expect(shareCut([], 4)).toBeNull();
  expect(shares([3, 1, 0])).toEqual([0.75, 0.25, 0]);
  expect(shares([0, 0])).toEqual([0, 0]);
});

it("says what keeps a value from being sent", () => {
  const optional = { anyOf: [{ type: "integer", minimum: 0, maximum: 64 }, { type: "null" }] };
  const rate = { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 };
  const range = "Must be above 0 and below 1.";
  const faults = (schema: JsonSchema, ...values: Json[]) => values.map(value => faultOf(value, schema));
  expect(faults(optional, null, 0, 64)).toEqual([null, null, null]);
  expect(faults(optional, -5, 65, 1.5)).toEqual(["Must be 0 to 64.", "Must be 0 to 64.", "Enter a whole number."]);
  expect(faults(rate, 3e-4, 0, 1)).toEqual([null, range, range]);
  expect(faults(rate, "banana", null)).toEqual(["“banana” is not a number.", "Enter a value."]);
  expect(faults({ type: "array", items: {} }, ["a@1"])).toEqual([null]);
});

it("reckons the reward that answers beyond a budget have earned", () => {
  const rows = [
    { thinking_tokens: 3, budget_hit: false, reward: 1 },
    { thinking_tokens: 4, budget_hit: false, reward: -2 },
    { thinking_tokens: 9, budget_hit: true, reward: 3 },
    { thinking_tokens: 9, budget_hit: false, reward: null },
  ];
  expect(rewardCut(rows, 4)).toBe(0.75);
  expect(rewardCut(rows, 9)).toBe(0.75);
  expect(rewardCut(rows, 10)).toBe(0);
  expect(rewardCut(rows, null)).toBe(0);
  expect(rewardCut(rows.slice(1, 2), 1)).toBeNull();
});
