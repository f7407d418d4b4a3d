import { describe, expect, it } from "vitest";
import {
  duplicate,
  faultsOf,
  freeName,
  itemsOf,
  move,
  newItem,
  positiveTotal,
  type RubricItem,
  shareOf,
} from "./rubric";

const ITEMS: RubricItem[] = [
  { name: "correct", description: "The result is right.", weight: 6 },
  { name: "brief", description: "No padding.", weight: 2 },
  { name: "invents", description: "Invents facts.", weight: -4 },
];
const names = (items: RubricItem[]) => items.map(item => item.name);

describe("totals", () => {
  it("counts positive weights only, and shares are of that total", () => {
    expect(positiveTotal(ITEMS)).toBe(8);
    expect(ITEMS.map(item => shareOf(item, ITEMS))).toEqual([0.75, 0.25, -0.5]);
  });

  it("has no share without a positive weight or while a weight is being typed", () => {
    expect(shareOf(ITEMS[2] as RubricItem, [ITEMS[2] as RubricItem])).toBeNull();
    expect(shareOf({ name: "a", description: "", weight: "1e" }, ITEMS)).toBeNull();
    expect(positiveTotal([{ name: "a", description: "", weight: "1e" }])).toBe(0);
  });
});

describe("order", () => {
  it("moves a member to its place and leaves the list alone at the edges", () => {
    expect(names(move(ITEMS, 2, 0))).toEqual(["invents", "correct", "brief"]);
    expect(names(move(ITEMS, 0, 1))).toEqual(["brief", "correct", "invents"]);
    expect(move(ITEMS, 0, -1)).toBe(ITEMS);
    expect(move(ITEMS, 2, 3)).toBe(ITEMS);
  });
});

describe("names", () => {
  it("gives a duplicate the first free number", () => {
    const twice = duplicate(ITEMS, 0);
    expect(names(twice)).toEqual(["correct", "correct_2", "brief", "invents"]);
    expect(names(duplicate(twice, 1))).toEqual(["correct", "correct_2", "correct_3", "brief", "invents"]);
    expect(twice[1]).toMatchObject({ description: "The result is right.", weight: 6 });
  });

  it("names new items and pitfalls", () => {
    expect(newItem(ITEMS, 1).name).toBe("item_4");
    expect(newItem(ITEMS, -1)).toEqual({ name: "pitfall_4", description: "", weight: -1 });
    expect(freeName("", ITEMS)).toBe("item_2");
  });
});

it("finds what is missing in an item", () => {
  expect(faultsOf(ITEMS[0] as RubricItem, 0, ITEMS)).toEqual({});
  const broken = { name: "brief", description: " ", weight: 0 };
  expect(faultsOf(broken, 0, [broken, ...ITEMS])).toEqual({
    name: "This name is used twice.",
    description: "Describe what the judge should look for.",
    weight: "Must not be 0.",
  });
});

it("reads items from JSON that is not complete yet", () => {
  expect(itemsOf([{ name: "a" }, 3, { weight: 2, description: "d" }])).toEqual([
    { name: "a", description: "", weight: null },
    { name: "", description: "d", weight: 2 },
  ]);
  expect(itemsOf(undefined)).toEqual([]);
});
