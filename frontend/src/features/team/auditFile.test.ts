import { expect, test } from "vitest";
import { auditFile } from "./auditFile";

test("a file has what the filter leaves", () => {
  expect(auditFile("csv", {})).toBe("/api/v1/audit/export?type=csv");
  expect(auditFile("jsonl", { actor: "a+b@example.com", action: undefined })).toBe(
    "/api/v1/audit/export?type=jsonl&actor=a%2Bb%40example.com",
  );
});
