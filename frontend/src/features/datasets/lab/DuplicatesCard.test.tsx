import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { DuplicatesReport } from "@/api/model";
import { renderWith } from "@/test/render";
import { Clusters } from "./DuplicatesCard";

const REPORT: DuplicatesReport = {
  rows: 1200,
  kept: 1198,
  equal_rows: 1,
  near_rows: 1,
  clusters: 1,
  conflicts: 1,
  elsewhere: 0,
  largest: [
    {
      cluster: 1,
      size: 3,
      kind: "near",
      similarity: 0.9394,
      answers_differ: true,
      rows: [
        { ref: "sums@1", index: 4, id: "a", text: "How many horses?", answer: "3" },
        { ref: "sums@1", index: 6, id: "b", text: "how many horses", answer: null },
      ],
    },
  ],
};

it("shows clusters with their rows, and warns of answers that differ", () => {
  renderWith(<Clusters report={REPORT} />);
  expect(screen.getByText("1,198")).toBeTruthy();
  expect(screen.getByRole("status").textContent).toContain("One cluster has different gold answers");
  const cluster = within(screen.getByRole("list", { name: "Largest clusters" })).getByRole("listitem");
  expect(cluster.textContent).toContain("94 % similar");
  expect(cluster.textContent).toContain("sums@1 · 5 How many horses? → 3");
  expect(cluster.textContent).toContain("sums@1 · 7 how many horses");
});

it("says so where all rows are different", () => {
  renderWith(<Clusters report={{ ...REPORT, kept: 1200, clusters: 0, conflicts: 0, largest: [] }} />);
  expect(screen.getByText("All 1,200 rows are different.")).toBeTruthy();
});
