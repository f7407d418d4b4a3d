import { expect, it } from "vitest";
import { benchQuery } from "./queries";

/** What the query does after an answer. */
const interval = (data: { state: string } | undefined) => {
  const ask = benchQuery("bench_1").refetchInterval as (query: unknown) => number | false;
  return ask({ state: { data } });
};

it("asks again until the job has ended", () => {
  expect(interval({ state: "queued" })).toBe(700);
  expect(interval({ state: "running" })).toBe(700);
  expect(interval({ state: "done" })).toBe(false);
  expect(interval({ state: "failed" })).toBe(false);
});

it("does not ask without end for a job that is gone", () => {
  expect(interval(undefined)).toBe(false);
});
