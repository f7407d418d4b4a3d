import { expect, it } from "vitest";
import type { Run } from "@/api/model";
import { healthWords } from "./health";

const finding = (guard: string, since: number) => ({ guard, since }) as Run["health"]["findings"][number];

it("names the gravest finding and counts the rest", () => {
  expect(healthWords({ state: "ok", findings: [] })).toBe("");
  const one = [finding("entropy collapse", 1200)];
  expect(healthWords({ state: "error", findings: one })).toBe("entropy collapse since step 1,200");
  const three = [...one, finding("dead groups", 3), finding("spend", 4)];
  expect(healthWords({ state: "error", findings: three })).toBe("entropy collapse since step 1,200 and 2 more");
});
