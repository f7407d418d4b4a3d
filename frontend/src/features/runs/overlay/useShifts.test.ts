import { expect, it } from "vitest";
import { summed } from "./useShifts";

it("moves a child by its own checkpoint and by those of its ancestors", () => {
  const steps = new Map([
    ["child", { parent: "root", by: 10 }],
    ["grandchild", { parent: "child", by: 5 }],
  ]);
  expect(summed(["grandchild", "root", "child"], steps)).toEqual([15, 0, 10]);
});

it("moves nothing of runs that are strangers to each other", () => {
  expect(summed(["a", "b"], new Map())).toEqual([0, 0]);
});
