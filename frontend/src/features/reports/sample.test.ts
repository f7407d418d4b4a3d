import { expect, it } from "vitest";
import { MOST_SHOWN, sampleOf, shortened } from "./sample";

it.each([
  ["http://host:8600/runs/run_1?tab=rollouts&group=6-0%3A3", { run: "run_1", group: "6-0", sample: 3 }],
  [" /runs/run_1?group=%22a%3Ab%3A0%22 ", { run: "run_1", group: "a:b", sample: 0 }],
  ["/runs/run_1?group=g", { run: "run_1", group: "g", sample: 0 }],
  ["/runs/run_1?tab=rollouts", null],
  ["/runs/run_1?group=g:x", null],
  ["/rewards/rew_1?group=g:1", null],
  ["http://", null],
])("reads %s", (address, found) => {
  expect(sampleOf(address)).toEqual(found);
});

it("says that a text is cut", () => {
  expect(shortened("short")).toBe("short");
  const cut = shortened("x".repeat(MOST_SHOWN + 1));
  expect([cut.length, cut.endsWith(" …")]).toEqual([MOST_SHOWN, true]);
});
