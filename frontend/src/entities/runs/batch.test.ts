import { expect, it } from "vitest";
import { batchSearch, filtersOf, groupSizeOf, withBatch } from "./batch";

const SPEC = { rollout: { group_size: 8, max_tokens: 64 }, filters: [{ type: "zero_advantage", tolerance: 1e-8 }] };

it("reads what fits of an address", () => {
  const filters = [{ type: "overlong", max_tokens: 9 }];
  expect(batchSearch({ group_size: 16, filters })).toEqual({ group_size: 16, filters });
  expect(batchSearch({ group_size: "16" })).toEqual({ group_size: 16, filters: undefined });
  for (const wrong of ["truncated", [{ max_tokens: 9 }], [null], {}])
    expect(batchSearch({ group_size: "many", filters: wrong })).toEqual({ group_size: undefined, filters: undefined });
});

it("reads them of a spec, and changes them alone", () => {
  expect([groupSizeOf(SPEC), filtersOf(SPEC)]).toEqual([8, SPEC.filters]);
  expect([groupSizeOf(undefined), filtersOf(undefined)]).toEqual([null, []]);
  expect(withBatch(SPEC, {})).toBe(SPEC);
  expect(withBatch(SPEC, { group_size: 4, filters: [] })).toEqual({
    rollout: { group_size: 4, max_tokens: 64 },
    filters: [],
  });
});
