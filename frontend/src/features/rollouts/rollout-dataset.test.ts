import { expect, test } from "vitest";
import { datasetBody, firstFields } from "./rollout-dataset";

test("answers that succeed are asked for by default, pairs by their difference", () => {
  const fields = firstFields("  my run");
  expect(datasetBody(fields, {}, true)).toEqual({
    kind: "completions",
    into: { name: "my run answers" },
    per_prompt: 1,
    first_step: null,
    last_step: null,
    dry_run: true,
    min_reward: null,
  });
  const pairs = datasetBody({ ...fields, kind: "pairs", minGap: 0.5, minReward: 1 }, {}, false);
  expect(pairs).toMatchObject({ kind: "pairs", min_gap: 0.5, dry_run: false });
  expect(pairs).not.toHaveProperty("min_reward");
});

test("the steps of the filter hold", () => {
  const fields = firstFields("run");
  expect(datasetBody(fields, { first: 3, last: 9, min: 0.5 }, true)).toMatchObject({ first_step: 3, last_step: 9 });
  expect(datasetBody(fields, { step: 4, first: 3 }, true)).toMatchObject({ first_step: 4, last_step: 4 });
});

test("a long name fits", () => {
  expect(firstFields("x".repeat(200)).name).toHaveLength(110);
});
