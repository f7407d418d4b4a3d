import { expect, test } from "vitest";
import type { DatasetImport } from "@/api/model";
import { isOpen, placeText, progressText, shown, suggestedName } from "./import-text";

const row = (fields: Partial<DatasetImport>) =>
  ({
    state: "queued",
    error: "",
    bytes_total: 0,
    bytes_done: 0,
    files_total: 0,
    files_done: 0,
    ...fields,
  }) as DatasetImport;

test("what is on its way, and what needs somebody, is shown", () => {
  const states = ["queued", "downloading", "verifying", "reading", "waiting", "ready", "failed", "cancelled"] as const;
  const rows = states.map(state => row({ state }));
  expect(rows.filter(isOpen).map(one => one.state)).toEqual(["queued", "downloading", "verifying", "reading"]);
  expect(shown(rows).map(one => one.state)).toEqual([
    "queued",
    "downloading",
    "verifying",
    "reading",
    "waiting",
    "failed",
  ]);
});

test("one line says what happens", () => {
  expect(progressText(row({}))).toBe("Queued");
  expect(progressText(row({ error: "It is away." }))).toBe("Waiting for the network");
  expect(progressText(row({ state: "downloading" }))).toBe("Listing files");
  const known = { bytes_total: 2048, bytes_done: 4096, files_total: 2, files_done: 1 };
  expect(progressText(row({ state: "reading", ...known }))).toBe(
    "Reading and checking rows: 2.0 KiB of 2.0 KiB, 1 of 2 files",
  );
  expect(progressText(row({ state: "verifying", ...known }))).toContain("Comparing checksums");
  expect(progressText(row({ state: "downloading", ...known }))).toContain("1 of 2 files");
});

test("a place is told with its commit and what was chosen", () => {
  const place = { location: "a/b", commit: "0123456789abcdef", revision: "main", config: "main", split: "train" };
  expect(placeText(place)).toBe("a/b @ 01234567: main / train");
  expect(placeText({ ...place, commit: "", revision: "", config: "", split: "" })).toBe("a/b");
});

test.each([
  ["openai/gsm8k", "gsm8k"],
  ["https://data.example.org/sets/train.jsonl.gz?signature=x", "train"],
  ["/data/sets/", "sets"],
  ["", ""],
])("the name suggested for %s", (location, name) => {
  expect(suggestedName(location)).toBe(name);
});
