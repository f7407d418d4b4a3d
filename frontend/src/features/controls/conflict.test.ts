import { describe, expect, it } from "vitest";
import type { Control, Json, Target } from "@/api/model";
import { aControl } from "@/test/control";
import {
  advanced,
  conflictRows,
  type Draft,
  edited,
  meanwhile,
  NO_DRAFT,
  pendingChanges,
  repinned,
  seenRevision,
  withoutTheirs,
} from "./conflict";

const BUDGET = "thinking.budget";
const RATE = "optimizer.learning_rate";
const theirs = (revision: number, target: string, value: Json, changes: Partial<Control> = {}): Control =>
  aControl({ id: `ctl_${revision}`, revision, target, value, before: 32, state: "staged", ...changes });
const target = (path: string, value: Json): Target => ({ path, boundary: "group_dispatch", value, schema: {} });
const TARGETS = [target(BUDGET, 32), target(RATE, 1e-6)];
const begun = (value: Json = 8, seen = 4): Draft => edited(NO_DRAFT, BUDGET, value, 32, seen);

describe("a draft", () => {
  it("is pinned to what was seen at its first edit, whatever comes later", () => {
    const again = edited(edited(begun(), BUDGET, 9, 32, 6), RATE, 1e-5, 1e-6, 7);
    expect(again.pinned).toBe(4);
    expect(again.values).toEqual({ [BUDGET]: 9, [RATE]: 1e-5 });
  });

  it("is none where the value was put back, even when others change the field later", () => {
    const back = edited(begun(), BUDGET, 32, 8, 4);
    expect(pendingChanges(back, TARGETS, [])).toEqual([]);
    expect(pendingChanges(back, TARGETS, [theirs(5, BUDGET, 16)])).toEqual([]);
    // Typed again over theirs, the same value is a change.
    const anew = edited(back, BUDGET, 32, 16, 5);
    expect(pendingChanges(anew, TARGETS, [theirs(5, BUDGET, 16)])).toEqual([{ target: BUDGET, value: 32 }]);
    expect(anew.pinned).toBe(5);
  });

  it("may be of null, which is a value", () => {
    expect(pendingChanges(begun(null), TARGETS, [])).toEqual([{ target: BUDGET, value: null }]);
  });

  it("keeps what others have left alone when theirs is taken", () => {
    const both = edited(begun(), RATE, 1e-5, 1e-6, 4);
    const left = withoutTheirs(both, [theirs(5, BUDGET, 16)]);
    expect(left).toMatchObject({ values: { [RATE]: 1e-5 }, pinned: 5 });
    expect(withoutTheirs(begun(), [theirs(5, BUDGET, 16)])).toEqual(NO_DRAFT);
  });

  it("is pinned anew only to what was shown", () => {
    const told = { ...begun(), told: [theirs(5, BUDGET, 16)] };
    expect(repinned(told, told.told)).toMatchObject({ pinned: 5, told: [], values: { [BUDGET]: 8 } });
    expect(meanwhile(repinned(told, told.told), [theirs(6, RATE, 2)], [])).toHaveLength(1);
  });
});

describe("what others did meanwhile", () => {
  it("comes from the stream or from the refusal, each once and oldest first", () => {
    const draft = { ...begun(), told: [theirs(6, BUDGET, 12), theirs(5, BUDGET, 16)] };
    const streamed = [theirs(5, BUDGET, 16, { state: "applied" }), theirs(4, RATE, 1), theirs(7, RATE, 2)];
    const found = meanwhile(draft, streamed, []);
    expect(found.map(one => [one.revision, one.state])).toEqual([
      [5, "applied"],
      [6, "staged"],
      [7, "staged"],
    ]);
    expect(meanwhile(NO_DRAFT, streamed, [])).toEqual([]);
  });

  it("leaves out what this console has done itself", () => {
    const own = [
      { after: 4, revision: 6 },
      { after: 7, revision: 8 },
    ];
    const streamed = [5, 6, 7, 8].map(revision => theirs(revision, RATE, revision));
    expect(meanwhile(begun(), streamed, own).map(one => one.revision)).toEqual([7]);
  });
});

it("moves a pin over own changes, but never over a gap", () => {
  expect(advanced(4, [])).toBe(4);
  expect(advanced(4, [{ after: 4, revision: 6 }])).toBe(6);
  expect(advanced(4, [{ after: 3, revision: 6 }])).toBe(6);
  expect(advanced(4, [{ after: 5, revision: 6 }])).toBe(4);
  expect(
    advanced(4, [
      { after: 4, revision: 5 },
      { after: 5, revision: 7 },
      { after: 8, revision: 9 },
    ]),
  ).toBe(7);
  expect(advanced(9, [{ after: 4, revision: 5 }])).toBe(9);
});

it("knows the newest revision that is shown", () => {
  expect(seenRevision([])).toBe(0);
  expect(seenRevision([theirs(3, RATE, 1), theirs(5, RATE, 2), theirs(4, RATE, 3)])).toBe(5);
});

it("sets theirs beside mine, field by field", () => {
  const others = [theirs(5, BUDGET, 16), theirs(6, BUDGET, 12, { before: 16 }), theirs(7, RATE, 2, { before: 1 })];
  const mine = [
    { target: "rollout.temperature", value: 0.7 },
    { target: BUDGET, value: 8 },
  ];
  expect(conflictRows(mine, others)).toEqual([
    { target: "rollout.temperature", theirs: null, before: null, mine: 0.7 },
    { target: BUDGET, theirs: others[1], before: 32, mine: 8 },
    { target: RATE, theirs: others[2], before: 1, mine: undefined },
  ]);
});
