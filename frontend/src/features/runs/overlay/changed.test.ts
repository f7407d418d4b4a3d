import { expect, it } from "vitest";
import { changedKeys } from "./changed";

const spec = (rate: number, extra: object = {}) => ({ seed: 1, optimizer: { lr: rate, eps: 1e-8 }, ...extra });

it("tells the smallest keys in which any two specs differ, with the values of all", () => {
  expect(changedKeys([spec(1), spec(1), spec(2)])).toEqual([{ path: ["optimizer", "lr"], values: [1, 1, 2] }]);
});

it("tells nothing of equal specs, of one, and of none", () => {
  expect(changedKeys([spec(1), spec(1)])).toEqual([]);
  expect(changedKeys([spec(1)])).toEqual([]);
  expect(changedKeys([])).toEqual([]);
});

it("leaves a key undefined where a spec has none, and null where it has null", () => {
  expect(changedKeys([spec(1), spec(1, { budget: null })])).toEqual([{ path: ["budget"], values: [undefined, null] }]);
});

it("tells a part once, where one spec has other keys in it and another has none of it", () => {
  const specs = [{ lora: { rank: 8 } }, { lora: { rank: 16 } }, { lora: null }];
  expect(changedKeys(specs)).toEqual([{ path: ["lora"], values: [{ rank: 8 }, { rank: 16 }, null] }]);
});

it("does not take a key for a part of one whose name it begins with", () => {
  const keys = changedKeys([
    { clip: 1, clip_high: 1 },
    { clip: 2, clip_high: 2 },
  ]);
  expect(keys.map(({ path }) => path)).toEqual([["clip"], ["clip_high"]]);
});
