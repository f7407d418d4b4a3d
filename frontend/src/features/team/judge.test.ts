import { expect, it } from "vitest";
import type { JudgeEndpoint } from "@/api/model";
import { judgeBody, judgeDraft, keyIsExposed } from "./judge";

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

it("warns of a key that would travel unencrypted", () => {
  const at = (base_url: string) => ({ ...judgeDraft(JUDGE), base_url });
  for (const url of ["http://judge.example.com/v1", "HTTP://10.0.0.7:8000/v1", " http://localhost.evil.com/v1"])
    expect(keyIsExposed(at(url), true)).toBe(true);
  for (const url of ["https://judge.example.com/v1", "http://localhost:8000/v1", "http://127.0.0.1/v1", "http://"])
    expect(keyIsExposed(at(url), true)).toBe(false);
  expect(keyIsExposed(at("http://judge.example.com/v1"), false)).toBe(false);
  expect(keyIsExposed({ ...at("http://judge.example.com/v1"), api_key: "sk-1" }, false)).toBe(true);
  expect(keyIsExposed({ ...at("http://judge.example.com/v1"), forget: true }, true)).toBe(false);
});
