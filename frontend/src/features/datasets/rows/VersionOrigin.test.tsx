import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Origin } from "@/api/model";
import { renderWith } from "@/test/render";
import { VersionOrigin } from "./VersionOrigin";

const ORIGIN: Origin = {
  file: { name: "train.jsonl.gz", format: "jsonl", packed: true, bytes: 2048, sha256: "ab".repeat(32) },
  shape: {
    name: "gsm8k",
    title: "GSM8K",
    mapping: [
      { column: "messages", source: "`question` as the user's message" },
      { column: "solution", source: "`answer` as it was" },
    ],
    grader: { type: "math" },
    system: "Put your final answer within \\boxed{}.",
  },
  warnings: [],
};

it("tells the file, its shape, and where the columns come from", () => {
  renderWith(<VersionOrigin origin={ORIGIN} />);
  const origin = screen.getByRole("region", { name: "Origin" });
  for (const text of ["train.jsonl.gz", "JSON Lines, compressed with gzip", "2.0 KiB", "GSM8K"])
    expect(within(origin).getByText(text)).toBeTruthy();
  expect(within(origin).getByTitle("ab".repeat(32)).textContent).toBe("abababababababab…");
  const rows = within(origin)
    .getAllByRole("row")
    .map(row => row.textContent);
  expect(rows).toEqual(["ColumnCreated from", "messagesquestion as the user's message", "solutionanswer as it was"]);
  expect(within(origin).getAllByRole("button", { name: /^Copy the (grader|system prompt)$/ })).toHaveLength(2);
  expect(within(origin).getByText('{"type":"math"}')).toBeTruthy();
  expect(within(origin).getByText("Put your final answer within \\boxed{}.")).toBeTruthy();
});

it("says that rows of our own shape are as they came, and proposes nothing", () => {
  const shape = { name: "own", title: "Dressage rows", mapping: [], grader: null, system: null };
  renderWith(<VersionOrigin origin={{ ...ORIGIN, shape }} />);
  expect(screen.getByText("The rows are stored unchanged.")).toBeTruthy();
  expect(screen.queryByRole("table")).toBeNull();
  expect(screen.queryByRole("button")).toBeNull();
});

it("warns of text that looks like control tokens, with the first rows", () => {
  const warning = { code: "control_tokens" as const, detail: "21 rows hold `<think>`.", rows: 21, first_rows: [3, 6] };
  const { update } = renderWith(<VersionOrigin origin={{ ...ORIGIN, warnings: [warning] }} />);
  expect(screen.getByRole("alert").textContent).toContain("21 rows hold <think>.The first are rows 3, 6.");
  update(<VersionOrigin origin={{ ...ORIGIN, warnings: [{ ...warning, rows: 2 }] }} />);
  expect(screen.getByRole("alert").textContent).toContain("Rows 3, 6.");
});

it("shows nothing of versions from before the origin was kept", () => {
  renderWith(<VersionOrigin origin={null} />);
  expect(screen.queryByTestId("version-origin")).toBeNull();
});
