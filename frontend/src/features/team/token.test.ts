import { expect, it } from "vitest";
import type { Token, TokenOptions } from "@/api/model";
import { emptyDraft, lives, nouns, standing, tokenBody } from "./token";

const NOW = Date.parse("2026-11-22T12:00:00Z");
const TOKEN = {
  id: "tok_1",
  name: "ci",
  role: "editor",
  effective_role: "editor",
  owner: { kind: "person", id: "usr_1", name: "ada@example.com" },
  state: "active",
  expires_at: "2027-01-22T12:00:00Z",
} as Token;
const OPTIONS: TokenOptions = {
  default_days: 60,
  max_days: 200,
  scopes: [
    { name: "runs:read", description: "See runs" },
    { name: "runs:write", description: "Also start runs" },
    { name: "team:read", description: "See the team" },
    { name: "team:write", description: "Also change members" },
  ],
};

it("tells whether a token acts", () => {
  expect(standing(TOKEN, NOW)).toEqual({ text: "active", color: "green", hint: null });
  const told = (change: object) => standing({ ...TOKEN, ...change } as Token, NOW).text;
  expect(told({ state: "owner_left", effective_role: null })).toBe("owner left");
  expect(told({ state: "expired", effective_role: null })).toBe("expired");
  expect(told({ state: "account_disabled", effective_role: null })).toBe("account disabled");
  expect(told({ effective_role: "viewer" })).toBe("acts as viewer");
  expect(told({ owner: { kind: "nobody", id: null, name: null } })).toBe("no owner");
  expect(told({ expires_at: "2026-11-30T12:00:00Z" })).toBe("expires soon");
});

it("offers the lives that the installation allows", () => {
  expect(lives(OPTIONS)).toEqual([1, 7, 30, 60, 90, 180, 200]);
  expect(lives({ ...OPTIONS, default_days: 5, max_days: 5 })).toEqual([1, 5]);
});

it("reads the nouns from the platform's scopes", () => {
  expect(nouns(OPTIONS)).toEqual([
    { noun: "runs", read: "See runs", write: "Also start runs" },
    { noun: "team", read: "See the team", write: "Also change members" },
  ]);
});

it("sends an end always, and scopes only where some are chosen", () => {
  const draft = { ...emptyDraft(OPTIONS), name: " ci ", verbs: { runs: "write", team: "none" } as const };
  expect(tokenBody(draft, NOW)).toEqual({
    name: "ci",
    role: "viewer",
    service_account: null,
    scopes: null,
    expires_at: "2027-01-21T12:00:00.000Z",
  });
  expect(tokenBody({ ...draft, limited: true, account: "sva_1" }, NOW)).toMatchObject({
    scopes: ["runs:write"],
    service_account: "sva_1",
  });
});
