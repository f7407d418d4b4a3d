import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import type { QualityReport, RowToMark } from "@/api/model";
import { renderWith } from "@/test/render";
import { Marking, Reviewers } from "./Agreement";
import { Asked } from "./Asked";
import { criteriaOf, kept } from "./QualityCard";
import { QualityScores } from "./QualityScores";

const row = (index: number) => ({ ref: "sums@1", index, id: `${index}`, text: `Row ${index}`, answer: "3" });
const REPORT: QualityReport = {
  rows: 5,
  mean: 0.5,
  histogram: Array.from({ length: 20 }, (_, bin) => ({
    least: bin / 20,
    most: (bin + 1) / 20,
    rows: bin === 4 ? 1 : bin === 10 ? 2 : bin === 19 ? 1 : 0,
  })),
  items: [{ name: "clear", weight: 1, mean: 0.25 }],
  lowest: [{ row: row(2), score: 0.2, verdicts: [{ name: "clear", score: 0.2, reason: "Says too little." }] }],
  kept_back: 0,
  asked: {
    model: "m",
    rows: 5,
    answered: 4,
    failed: 1,
    failures: [{ row: row(4), reason: "the judge's answer is no JSON" }],
    questions: 7,
    prompt_tokens: 70,
    completion_tokens: 7,
    price: null,
  },
};

it("shows how scores are spread, the lowest rows, and what was not answered", () => {
  renderWith(
    <>
      <QualityScores report={REPORT} threshold={0.5} />
      <Asked asked={REPORT.asked} />
    </>,
  );
  expect(screen.getByRole("img").getAttribute("aria-label")).toBe("Scores of 4 rows; 1 are below 50 %");
  const lowest = within(screen.getByRole("region", { name: "Lowest scores" })).getByRole("listitem");
  expect(lowest.textContent).toBe("20 %sums@1 · 3 Row 2 → 3clear 20 %: Says too little.");
  expect(screen.getByRole("status").textContent).toBe("One row was not answered.");
  expect(screen.getByText("the judge's answer is no JSON")).toBeTruthy();
});

it("says what is kept back from one who marks rows", () => {
  const { update } = renderWith(<QualityScores report={{ ...REPORT, lowest: [], kept_back: 3 }} threshold={0.5} />);
  const text = () => screen.getByRole("region", { name: "Lowest scores" }).textContent;
  expect(text()).toBe(
    "Lowest scores3 of the lowest rows are among the rows to mark. Mark them to see the judge’s verdict.",
  );
  update(<QualityScores report={REPORT} threshold={0.5} />);
  expect(text()).not.toContain("to mark");
});

it("counts the rows that a version keeps, at the edges of the bins as well", () => {
  expect([0.05, 0.2, 0.25, 0.5, 0.55, 1].map(threshold => kept(REPORT, threshold))).toEqual([4, 4, 3, 3, 1, 0]);
});

it("asks by complete criteria alone", () => {
  const one = { name: "clear", description: "It is clear.", weight: 1 };
  expect(criteriaOf([one])).toEqual([one]);
  expect(criteriaOf([])).toBeNull();
  expect(criteriaOf([one, { ...one, description: "Another." }])).toBeNull();
  expect(criteriaOf([{ ...one, description: "" }])).toBeNull();
  expect(criteriaOf([{ ...one, weight: -1 }])).toBeNull();
});

it("lets a person mark row after row", async () => {
  const rows: RowToMark[] = [3, 8].map(index => ({
    index,
    id: `${index}`,
    columns: [{ name: "prompt", text: `Row ${index}` }],
    mine: index === 3 ? "bad" : null,
  }));
  const onSay = vi.fn((_said: { row: number; word: string }, onKept: () => void) => onKept());
  renderWith(<Marking rows={rows} busy={false} onSay={onSay} />);
  expect(screen.getByRole("status").textContent).toContain("Row 2 of 2, 1 marked");
  expect(screen.getByText("Row 8")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Good" }));
  expect(onSay).toHaveBeenCalledWith({ row: 8, word: "good" }, expect.any(Function));
  await userEvent.click(screen.getByRole("button", { name: "Back" }));
  expect(screen.getByRole("button", { name: "Bad" }).getAttribute("aria-pressed")).toBe("true");
});

it("stays at a row whose mark was not kept, and sends none twice", async () => {
  const rows: RowToMark[] = [1, 2].map(index => ({ index, id: `${index}`, columns: [], mine: null }));
  const onSay = vi.fn();
  const { update } = renderWith(<Marking rows={rows} busy={false} onSay={onSay} />);
  const good = screen.getByRole("button", { name: "Good" });
  await userEvent.click(good);
  expect(screen.getByRole("status").textContent).toContain("Row 1 of 2, 0 marked");
  update(<Marking rows={rows} busy onSay={onSay} />);
  await userEvent.click(good);
  expect(onSay).toHaveBeenCalledTimes(1);
  expect(document.activeElement).toBe(good);
});

it("says so where nobody has marked rows", () => {
  renderWith(<Reviewers reviewers={[]} />);
  expect(screen.getByText(/No rows marked yet/)).toBeTruthy();
});
