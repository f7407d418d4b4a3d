import { describe, expect, it } from "vitest";
import { SCHEMA } from "./fixture";
import { initialValue, kindOf, present, resolve, variantOf, variants, withDefaults } from "./schema";

const property = (name: string) => resolve(SCHEMA.properties?.[name] ?? {}, SCHEMA);

describe("kinds", () => {
  it.each([
    ["curriculum", "union"],
    ["sources", "array"],
    ["budget", "optional"],
    ["overlong", "optional"],
    ["rate", "number"],
    ["dtype", "enum"],
  ])("%s is %s", (name, kind) => expect(kindOf(property(name))).toBe(kind));

  it("takes what it cannot draw as JSON", () => {
    expect(kindOf({ anyOf: [{ type: "string" }, { type: "integer" }] })).toBe("json");
    expect(kindOf({ type: "object" })).toBe("json");
  });
});

describe("unions", () => {
  it("lists the members with their tags", () => {
    expect(variants(property("curriculum"), SCHEMA).map(one => one.tag)).toEqual(["uniform", "band"]);
  });

  it("finds the member of a value, and none for an unknown tag", () => {
    expect(variantOf(property("curriculum"), SCHEMA, { type: "band" })?.schema.formula).toBe("a ≤ p ≤ b");
    expect(variantOf(property("curriculum"), SCHEMA, { type: "other" })).toBeUndefined();
  });
});

it("keeps the unit of an optional when it is present, but not its empty default", () => {
  const budget = present(property("budget"), SCHEMA);
  expect(kindOf(budget)).toBe("integer");
  expect(budget.unit).toBe("tokens");
  expect(initialValue(budget, SCHEMA)).toBe(0);
});

describe("defaults", () => {
  it("fills in what a document leaves out, and keeps what it says", () => {
    expect(withDefaults(SCHEMA, SCHEMA, { sources: [{ name: "a" }], curriculum: { type: "band" } })).toEqual({
      curriculum: { type: "band", low: 0.05 },
      sources: [{ name: "a", weight: 1 }],
      budget: null,
      overlong: null,
      rate: 0.0003,
      dtype: "float32",
    });
  });

  it("keeps unknown keys for the platform to refuse", () => {
    expect(withDefaults(SCHEMA, SCHEMA, { sources: [], typo: 1 })).toMatchObject({ typo: 1 });
  });

  it("starts a list with as many members as it needs", () => {
    expect(initialValue(property("sources"), SCHEMA)).toEqual([{ name: "", weight: 1 }]);
  });
});

it("refuses a reference to nothing", () => {
  expect(() => resolve({ $ref: "#/$defs/Missing" }, SCHEMA)).toThrow("#/$defs/Missing");
});
