// @vitest-environment happy-dom
import { renderHook } from "@testing-library/react";
import { expect, it } from "vitest";
import { useRequestKey } from "./useRequestKey";

it("keeps the key of a request through its tries, and takes another for another request", () => {
  const { result, rerender } = renderHook(useRequestKey);
  const first = result.current({ name: "a", start: true });
  rerender();
  expect(result.current({ name: "a", start: true })).toBe(first);
  const second = result.current({ name: "b", start: true });
  expect(second).not.toBe(first);
  expect(result.current({ name: "b", start: true })).toBe(second);
});
