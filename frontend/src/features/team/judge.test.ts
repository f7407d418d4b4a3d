import { expect, it } from "vitest";
import type { JudgeEndpoint } from "@/api/model";
import { judgeBody, judgeDraft } from "./judge";

const JUDGE = {
  id: "judge_1",
  slug: "default",
  name: "House judge",
  base_url: "https://judge.example.com/v1",
  policy: null,
  model: "judge-large",
  has_key: true,
  max_in_flight: 64,
  timeout_s: 30,
  retries: 2,
  price_prompt: 0.5,
  price_completion: null,
} as JudgeEndpoint;

it("keeps the stored key unless a person types another or forgets it", () => {
  const draft = judgeDraft(JUDGE);
  expect("api_key" in judgeBody(draft)).toBe(false);
  expect(judgeBody({ ...draft, api_key: "sk-new" })).toMatchObject({ api_key: "sk-new" });
  expect(judgeBody({ ...draft, forget: true })).toMatchObject({ api_key: null });
});

it("sends an address or a policy, never both, and no key for a policy", () => {
  expect(judgeBody(judgeDraft(JUDGE))).toMatchObject({ base_url: "https://judge.example.com/v1", policy: null });
  const served = { ...judgeDraft(JUDGE), kind: "policy" as const, policy: "tiny" };
  expect(judgeBody(served)).toMatchObject({ base_url: null, policy: "tiny", api_key: null });
});

it("sends unknown prices as null and leaves empty numbers to the platform", () => {
  const body = judgeBody({ ...judgeDraft(null), retries: "" });
  expect(body).toMatchObject({ price_prompt: null, price_completion: null, max_in_flight: 32 });
  expect("retries" in body).toBe(false);
});
