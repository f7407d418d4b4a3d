import { expect, it } from "vitest";
import { counted, offered } from "./offered";

const value = (text: string) => ({ value: text, rows: 1200 });

it("offers each column's values, without those that the address cannot hold", () => {
  const columns = [
    { name: "level", values: [value("3"), value("1,5")] },
    { name: "a,b", values: [value("x")] },
  ];
  expect(offered({ columns, scripts: [], notes: [], rows: 2, of: "all" })).toEqual([
    { group: "level", items: ["level=3"] },
  ]);
  expect(offered(undefined)).toEqual([]);
});

it("says how many rows have a value", () => expect(counted("Latin", 1200)).toBe("Latin · 1,200"));
