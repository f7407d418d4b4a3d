import { expect, it } from "vitest";
import { aControl } from "@/test/control";
import { controlOf, worstTokensOf } from "./events";
import type { Json, RunEvent } from "./model";

const CONTROL = aControl();
const TOKEN = {
  group_id: "g1",
  sample: 0,
  position: 2,
  token_id: 5,
  behaviour_logprob: "-Infinity",
  learner_logprob: -0.5,
  version: 1,
};

const event = (data: { [key: string]: Json }): RunEvent => ({
  seq: 1,
  kind: "control",
  step: null,
  at: "2026-11-21T06:00:00.000Z",
  attempt: 1,
  data,
});

it("reads the control of an event, its null values included", () => {
  expect(controlOf(event({ control: { ...CONTROL } }))).toEqual(CONTROL);
});

it.each([
  ["none", undefined],
  ["null", null],
  ["a word", "ctl_1"],
  ["a list", [{ ...CONTROL }]],
  ["one without a value", Object.fromEntries(Object.entries(CONTROL).filter(([name]) => name !== "value"))],
  ["one with a revision that is no number", { ...CONTROL, revision: "3" }],
  ["one that applies never", { ...CONTROL, apply_at: null }],
])("takes %s for no control", (_, control) => {
  expect(controlOf(event(control === undefined ? {} : { control }))).toBeNull();
});

it("reads worst tokens and leaves out what are none", () => {
  const named = { ...TOKEN, text: " the" };
  const odd = [null, 7, { ...TOKEN, sample: "0" }, { ...TOKEN, behaviour_logprob: null }];
  expect(worstTokensOf(event({ worst_tokens: [TOKEN, ...odd, named] }))).toEqual([TOKEN, named]);
  expect(worstTokensOf(event({}))).toEqual([]);
  expect(worstTokensOf(event({ worst_tokens: "none" }))).toEqual([]);
});
