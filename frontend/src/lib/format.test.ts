import { describe, expect, it } from "vitest";
import {
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatValue,
  humanize,
  percentOf,
} from "./format";

describe("formatNumber", () => {
  it.each([
    [0, "0"],
    [0.61234, "0.6123"],
    [12.3456, "12.35"],
    [1.5, "1.5"],
    [400, "400"],
    [1234.56, "1,235"],
    [12345, "12,345"],
    [0.000012, "1.2e−5"],
    [-0.25, "−0.25"],
    [2_500_000, "2.5M"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "∞"],
    [null, "–"],
    [undefined, "–"],
  ])("%s → %s", (value, text) => expect(formatNumber(value)).toBe(text));
});

it.each([
  [950, "950"],
  [9999, "9,999"],
  [12_400, "12.4k"],
  [3_100_000, "3.1M"],
  [604_160, "604k"],
  [2e9, "2B"],
  [999e12, "999T"],
  [1.7e308, "1.7e308"],
  [-3e38, "−3e38"],
  [Number.NEGATIVE_INFINITY, "−∞"],
])("counts %s as %s", (value, text) => expect(formatCount(value)).toBe(text));

it.each([
  [4.26, "4.3 s"],
  [42, "42 s"],
  [185, "3 min 05 s"],
  [8040, "2 h 14 min"],
  [273_600, "3 d 4 h"],
  [null, "–"],
  [-1, "–"],
])("lasts %s: %s", (seconds, text) => expect(formatDuration(seconds)).toBe(text));

it("says how long ago", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  expect(formatAgo("2026-11-21T11:59:56Z", now)).toBe("just now");
  expect(formatAgo("2026-11-21T11:59:18Z", now)).toBe("42 s ago");
  expect(formatAgo("2026-11-21T09:00:00Z", now)).toBe("3 h ago");
  expect(formatAgo("2026-10-01T09:00:00Z", now)).toBe("1 Oct 2026");
  expect(formatAgo(null, now)).toBe("–");
});

it("formats bytes, shares, values and names", () => {
  expect(formatBytes(512)).toBe("512 B");
  expect(formatBytes(2_421_480)).toBe("2.3 MiB");
  expect(formatPercent(0.345)).toBe("35 %");
  expect(formatPercent(null)).toBe("–");
  expect(formatValue(null)).toBe("none");
  expect(formatValue(3e-4)).toBe("3e−4");
  expect(formatValue(["math@1", "math@2"])).toBe("math@1, math@2");
  expect(formatValue([])).toBe("none");
  expect(formatValue([1, "a"])).toBe('[1,"a"]');
  expect(formatValue({ type: "sync" })).toBe('{"type":"sync"}');
  expect(humanize("max_pass_rate")).toBe("Max pass rate");
  expect(humanize("kv_cache_gib")).toBe("KV cache (GiB)");
  expect(humanize("timeout_s")).toBe("Timeout (s)");
  expect(humanize("sft")).toBe("SFT");
  expect(humanize("s")).toBe("S");
});

describe("percentOf", () => {
  it.each([
    [10, 1500, 0.7],
    [39, 400, 9.8],
    [1, 1, 100],
    [0, 7, 0],
    [3, 0, 0],
    [3, null, 0],
  ])("%s of %s → %s", (part, whole, percent) => expect(percentOf(part, whole)).toBe(percent));
});
