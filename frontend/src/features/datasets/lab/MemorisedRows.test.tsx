import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { MemorisationReport } from "@/api/model";
import { renderWith } from "@/test/render";
import { MemorisedRows } from "./MemorisedRows";

const row = (index: number) => ({
  ref: "sums@1",
  index,
  id: `${index}`,
  text: `Row ${index} and its rest`,
  answer: "3",
});
const REPORT = {
  rows: 6,
  tried: 4,
  left_out: 2,
  completed: 1,
  share: 0.25,
  low: 0.05,
  high: 0.7,
  with_answer: 4,
  answered: 1,
  overlap: 0.4,
  histogram: [
    { least: 0, most: 0.5, rows: 2 },
    { least: 0.5, most: 0.95, rows: 1 },
    { least: 0.95, most: 1, rows: 1 },
  ],
  most: [
    {
      row: row(2),
      shown: "Row 2",
      expected: " and its rest",
      said: " and its rest",
      overlap: 1,
      completed: true,
      answered: true,
    },
    {
      row: row(3),
      shown: "Row 3",
      expected: " and its rest",
      said: " ",
      overlap: 0.5,
      completed: false,
      answered: null,
    },
  ],
} as unknown as MemorisationReport;

it("tells how many rows are known, and shows what was written in the place of the rest", () => {
  renderWith(<MemorisedRows report={REPORT} />);
  expect(screen.getByText("1 (25 %)")).toBeTruthy();
  expect(screen.getByText("5 % to 70 %")).toBeTruthy();
  expect(screen.getByText("1 of 4")).toBeTruthy();
  const bars = screen.getByRole("img", { name: "Overlaps of 4 rows with what the model wrote" });
  expect([...bars.children].map(bar => bar.getAttribute("title"))).toEqual([
    "0 % to 50 %: 2",
    "50 % to 95 %: 1",
    "95 % to 100 %: 1",
  ]);
  expect(screen.getByText("1 of 95 % and more")).toBeTruthy();
  const [known, other] = within(screen.getByRole("region", { name: "Largest overlaps" })).getAllByRole("listitem");
  expect(known?.textContent).toContain("verbatim");
  expect(known?.textContent).toContain("answered correctly");
  expect(other?.textContent).toContain("50 % overlap");
  expect(other?.textContent).toContain("Model output: nothing");
});

it("says so where no rest was long enough", () => {
  renderWith(<MemorisedRows report={{ ...REPORT, tried: 0, left_out: 6 }} />);
  expect(screen.getByText(/No row was tested: of 6 the continuation is too short/)).toBeTruthy();
});
