import { expect, test } from "vitest";
import { agreementText, askedText, costText, percent, progressText } from "./lab-text";

const COST = { rows: 7473, bytes: 2_000_000, seconds: 3.2, measured: false, memory_bytes: 220_000_000, asking: null };

const job = (fields: object) => ({ state: "running", stage: "", steps_done: 0, steps_total: 0, ...fields }) as never;

test("a cost says what is read, and where the estimate is from", () => {
  expect(costText(COST)).toContain("Reads 7,473 rows (");
  expect(costText(COST)).toContain("takes about 4 s, measured on two cores");
  expect(costText({ ...COST, rows: 1, measured: true })).toMatch(/Reads 1 row .* based on earlier jobs/);
});

test("progress is told in rows, and not at all before a job has told of any", () => {
  expect(percent({ steps_done: 1, steps_total: 0 })).toBeNull();
  expect(percent({ steps_done: 5, steps_total: 4 })).toBe(100);
  expect(progressText(job({ state: "queued" }))).toBe("Queued.");
  expect(progressText(job({}))).toBe("Starting…");
  expect(progressText(job({ stage: "Reading rows", steps_done: 1500, steps_total: 3000 }))).toBe(
    "Reading rows: 1,500 of 3,000 (50 %)",
  );
});

test("a model's cost is told in questions, tokens and price, as the estimate that it is", () => {
  const tokens = { prompt_tokens: 1000, completion_tokens: 200, price: 0.004 };
  const asking = { model: "m", rows: 2, questions: 2, ...tokens, left_out: 0 };
  expect(costText({ ...COST, asking })).toMatch(
    /Asks m about 2 rows: about 2 questions with 1,000 prompt tokens and 200 completion tokens, costing about 0.004.*estimate/,
  );
  expect(costText({ ...COST, asking: { ...asking, price: null } })).toContain("price unknown");
  expect(costText({ ...COST, asking })).not.toContain("left out");
  expect(costText({ ...COST, asking: { ...asking, left_out: 3 } })).toContain("3 rows are left out");
});

test("what was asked is told with its price, where that is known", () => {
  const asked = { model: "m", rows: 1, answered: 1, failed: 0, failures: [], questions: 1, prompt_tokens: 9 };
  expect(askedText({ ...asked, completion_tokens: 5, price: null })).toContain("m gave 1 answer: 9 prompt tokens");
  expect(askedText({ ...asked, completion_tokens: 5, price: 0.5 })).toContain("Price: 0.5.");
});

test("agreement is told with both intervals, and without kappa where there is none", () => {
  const one = { reviewer: "r", marked: 40, both_good: 20, judge_only: 4, person_only: 4, both_bad: 12 };
  const told = { ...one, agreement: 0.8, low: 0.652, high: 0.895, kappa: -0.05, kappa_low: -0.3, kappa_high: 0.2 };
  expect(agreementText(told)).toBe("agrees on 80 % of 40 rows (95 %: 65 % to 90 %), κ −0.05 (−0.30 to 0.20)");
  expect(agreementText({ ...told, kappa: null, kappa_low: null, kappa_high: null })).toContain("κ is undefined");
});
