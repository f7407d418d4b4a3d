import { expect, it } from "vitest";
import type { ChartView } from "@/api/model";
import { chartsOf, defaultFor, isChanged, placed, searchOf } from "./views";

const CHARTS = { x: "cost" as const, smooth: 0.6, hide: ["a/b"], pins: ["reward", "entropy"], log: ["loss"] };
const VIEW = { id: "view_1", name: "Spend", charts: CHARTS, shared: true, default: true } as ChartView;

it("sets the address to what a view says, and reads the same from it", () => {
  const search = searchOf(VIEW);
  expect(search).toEqual({
    x: "cost",
    smooth: 0.6,
    hide: "a/b",
    pins: "reward,entropy",
    log: "loss",
    view: "view_1",
    from: undefined,
    to: undefined,
  });
  expect(chartsOf(search, CHARTS.pins)).toEqual(CHARTS);
  expect(isChanged(VIEW, search, CHARTS.pins)).toBe(false);
  expect(isChanged(VIEW, { ...search, smooth: 0.4 }, CHARTS.pins)).toBe(true);
  expect(isChanged(VIEW, search, ["entropy", "reward"])).toBe(true);
});

it("takes what is plain out of the address, so that nothing of before stays", () => {
  const plain = searchOf({ id: "view_2", charts: { x: "step", smooth: 0, hide: [], pins: [], log: [] } });
  expect(Object.entries(plain).filter(([, value]) => value !== undefined)).toEqual([["view", "view_2"]]);
  expect({ x: "cost", hide: "a", ...plain }).toMatchObject({ x: undefined, hide: undefined });
});

it("opens with the team's default only where the address says nothing", () => {
  expect(defaultFor({}, [VIEW])).toBe(VIEW);
  expect(defaultFor({ find: "loss" }, [VIEW])).toBe(VIEW);
  expect(defaultFor({ view: "none" }, [VIEW])).toBeUndefined();
  expect(defaultFor({ x: "time" }, [VIEW])).toBeUndefined();
  expect(defaultFor({}, [{ ...VIEW, default: false }])).toBeUndefined();
  expect(defaultFor({}, undefined)).toBeUndefined();
});

it("puts a pinned chart at the place of another, to either side", () => {
  expect(placed(["a", "b", "c"], "a", "c")).toEqual(["b", "c", "a"]);
  expect(placed(["a", "b", "c"], "c", "a")).toEqual(["c", "a", "b"]);
  expect(placed(["a", "gone", "b"], "b", "a")).toEqual(["b", "a", "gone"]);
  expect(placed(["a"], "a", "x")).toEqual(["a"]);
});
