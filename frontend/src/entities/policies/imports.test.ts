import { expect, it } from "vitest";
import type { PolicyImport } from "@/api/model";
import { percent } from "@/ui/transfer-text";
import { nameOf, progressText, repositoryName, revisionIn, shown } from "./imports";

const ROW = {
  state: "downloading",
  error: "",
  bytes_done: 512,
  bytes_total: 2048,
  files_done: 3,
  files_total: 9,
} as PolicyImport;

it("takes a repository's name out of what people paste", () => {
  expect(repositoryName(" Qwen/Qwen3-0.6B ")).toBe("Qwen/Qwen3-0.6B");
  expect(repositoryName("https://huggingface.co/Qwen/Qwen3-0.6B")).toBe("Qwen/Qwen3-0.6B");
  expect(repositoryName("https://huggingface.co/Qwen/Qwen3-0.6B/tree/main?x=1")).toBe("Qwen/Qwen3-0.6B");
  expect(repositoryName("gpt2/")).toBe("gpt2");
});

it("takes the revision out of what people paste", () => {
  expect(revisionIn("https://huggingface.co/Qwen/Qwen3-0.6B/tree/v2")).toBe("v2");
  expect(revisionIn("https://huggingface.co/Qwen/Qwen3-0.6B/blob/refs%2Fpr%2F1/config.json")).toBe("refs/pr/1");
  expect(revisionIn("https://huggingface.co/Qwen/Qwen3-0.6B/tree/%E0%A4")).toBe("%E0%A4");
  expect(revisionIn("https://huggingface.co/Qwen/Qwen3-0.6B")).toBeNull();
  expect(revisionIn("Qwen/tree")).toBeNull();
});

it("suggests the last part of a place as the name", () => {
  expect(nameOf("Qwen/Qwen3-0.6B")).toBe("Qwen3-0.6B");
  expect(nameOf("s3://bucket/models/one/")).toBe("one");
  expect(nameOf("/models/starter")).toBe("starter");
  expect(nameOf("s3://")).toBe("");
  expect(nameOf("")).toBe("");
});

it("tells what an import does and how far it is", () => {
  expect(progressText(ROW)).toBe("Fetching: 512 B of 2.0 KiB, 3 of 9 files");
  expect(progressText({ ...ROW, state: "verifying" })).toBe("Comparing checksums: 512 B of 2.0 KiB, 3 of 9 files");
  expect(progressText({ ...ROW, bytes_total: 0 })).toBe("Listing files");
  expect(progressText({ ...ROW, state: "queued" })).toBe("Queued");
  expect(progressText({ ...ROW, state: "queued", error: "The connection failed." })).toBe("Waiting for the network");
  expect(percent(ROW)).toBe(25);
  expect(percent({ bytes_done: 5, bytes_total: 0 })).toBeNull();
});

it("shows what is on its way or needs somebody", () => {
  const states = ["queued", "downloading", "verifying", "ready", "failed", "cancelled"] as const;
  const rows = states.map(state => ({ ...ROW, state }));
  expect(shown(rows).map(row => row.state)).toEqual(["queued", "downloading", "verifying", "failed"]);
});
