import { expect, test } from "vitest";
import { costText, percent, progressText } from "./lab-text";

const COST = { rows: 7473, bytes: 2_000_000, seconds: 3.2, measured: false, memory_bytes: 220_000_000 };

const job = (fields: object) => ({ state: "running", stage: "", steps_done: 0, steps_total: 0, ...fields }) as never;

test("a cost says what is read, and where the estimate is from", () => {
  expect(costText(COST)).toContain("Reads 7,473 rows (");
  expect(costText(COST)).toContain("takes about 4 s by a measurement on two cores");
  expect(costText({ ...COST, rows: 1, measured: true })).toMatch(/Reads 1 row .* by what earlier jobs took here/);
});

test("progress is told in rows, and not at all before a job has told of any", () => {
  expect(percent({ steps_done: 1, steps_total: 0 })).toBeNull();
  expect(percent({ steps_done: 5, steps_total: 4 })).toBe(100);
  expect(progressText(job({ state: "queued" }))).toBe("Waits for its turn.");
  expect(progressText(job({}))).toBe("Starting…");
  expect(progressText(job({ stage: "Reading rows", steps_done: 1500, steps_total: 3000 }))).toBe(
    "Reading rows: 1,500 of 3,000 (50 %)",
  );
});
