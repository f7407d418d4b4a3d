import { afterEach, expect, it, vi } from "vitest";
import { http } from "./http";

afterEach(() => vi.unstubAllGlobals());

/** Idempotency keys of requests, in their order. */
function keysOf(): (string | null)[] {
  const keys: (string | null)[] = [];
  vi.stubGlobal("document", { cookie: "csrftoken=of the page" });
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    keys.push(new Headers(init.headers).get("Idempotency-Key"));
    return new Response("{}");
  });
  return keys;
}

it("gives each request that makes something a key of its own", async () => {
  const keys = keysOf();
  for (const method of ["POST", "POST", "GET", "PATCH", "PUT", "DELETE"]) await http({ url: "/api/v1/runs", method });
  const [first, second, ...others] = keys;
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(second).toMatch(/^[0-9a-f]{32}$/);
  expect(second).not.toBe(first);
  expect(others).toEqual([null, null, null, null]);
});

it("keeps the key that the caller repeats a request with", async () => {
  const keys = keysOf();
  const headers = { "Idempotency-Key": "of the first try" };
  await http({ url: "/api/v1/runs", method: "POST", headers });
  await http({ url: "/api/v1/runs", method: "POST", headers });
  expect(keys).toEqual(["of the first try", "of the first try"]);
});
