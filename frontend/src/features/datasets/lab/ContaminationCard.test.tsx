import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { ContaminationReport } from "@/api/model";
import { renderWith } from "@/test/render";
import { Report } from "./ContaminationCard";

const REPORT: ContaminationReport = {
  rows: 1200,
  clean: 1198,
  equal_rows: 1,
  near_rows: 0,
  part_rows: 1,
  other_numbers: 3,
  common_runs: 12,
  sets: [
    { ref: "held-out@1", rows: 500, found: 2 },
    { ref: "other@2", rows: 30, found: 0 },
  ],
  largest: [
    {
      match: "equal",
      share: 1,
      longest: 6,
      row: { ref: "sums@1", index: 4, id: "a", text: "How many horses?", answer: "3" },
      met: { ref: "held-out@1", index: 6, id: "b", text: "how many horses", answer: null },
    },
    {
      match: "part",
      share: 0.631,
      longest: 31,
      row: { ref: "sums@1", index: 9, id: "c", text: "A longer one", answer: null },
      met: { ref: "held-out@1", index: 0, id: "d", text: "a longer one of them", answer: null },
    },
  ],
};

it("shows rows beside those that they meet, and which evaluation sets are concerned", () => {
  renderWith(<Report report={REPORT} />);
  expect(screen.getByText("1,198")).toBeTruthy();
  expect(screen.getByRole("status").textContent).toContain("2 of the 500 rows of held-out@1 are in this training data");
  expect(screen.getByRole("status").textContent).not.toContain("other@2");
  const rows = within(screen.getByRole("list", { name: "Contaminated rows" })).getAllByRole("listitem");
  expect(rows.map(row => row.textContent)).toEqual([
    "equal6 consecutive wordssums@1 · 5 How many horses? → 3held-out@1 · 7 how many horses",
    "63 % shared31 consecutive wordssums@1 · 10 A longer oneheld-out@1 · 1 a longer one of them",
  ]);
});

it("says so where no row stands in an evaluation set", () => {
  renderWith(<Report report={{ ...REPORT, clean: 1200, equal_rows: 0, part_rows: 0, largest: [] }} />);
  expect(screen.getByText("None of these rows occurs in held-out@1, other@2.")).toBeTruthy();
  expect(screen.queryByRole("status")).toBeNull();
});
