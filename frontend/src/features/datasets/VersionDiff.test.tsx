import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { RowDiff } from "@/api/model";
import { renderWith } from "@/test/render";
import { Differences } from "./VersionDiff";
import { countsText } from "./VersionLineage";

const CHANGED: RowDiff = {
  change: "changed",
  id: "r3",
  before_index: 2,
  after_index: 1,
  before: { prompt: "1+1=", answer: "3" },
  after: { prompt: "1+1=", answer: "2", level: 1 },
  fields: [
    { name: "answer", before: "3", after: "2", change: "changed" },
    { name: "level", before: null, after: 1, change: "added" },
  ],
};
const GONE: RowDiff = {
  change: "removed",
  id: "r2",
  before_index: 1,
  after_index: null,
  before: { prompt: "2+2=" },
  after: null,
  fields: [],
};

it("shows the columns that differ of changed rows, and all of removed ones", () => {
  renderWith(<Differences counts={{ added: 0, removed: 1, changed: 1, equal: 1000 }} rows={[GONE, CHANGED]} />);
  expect(screen.getByText("0 added, 1 removed, 1 changed, 1,000 equal")).toBeTruthy();
  const changed = within(screen.getByRole("article", { name: "changed r3" }));
  expect(changed.getByText("was row 3, is row 2")).toBeTruthy();
  expect(changed.getByText("3").tagName).toBe("DEL");
  expect(changed.getByText("2").tagName).toBe("INS");
  expect(changed.queryByText("1+1=")).toBeNull();
  const gone = within(screen.getByRole("article", { name: "removed r2" }));
  expect(gone.getByText("2+2=")).toBeTruthy();
  expect(gone.getByText("was row 2")).toBeTruthy();
});

it("says where nothing differs, or only the order of columns", () => {
  const view = renderWith(<Differences counts={{ added: 0, removed: 0, changed: 0, equal: 3 }} rows={[]} />);
  expect(screen.getByText("Both versions have the same rows. Their order may differ.")).toBeTruthy();
  const row = { ...CHANGED, fields: [] };
  view.update(<Differences counts={{ added: 0, removed: 0, changed: 1, equal: 2 }} rows={[row]} />);
  expect(screen.getByText("Only the order of its columns differs.")).toBeTruthy();
});

it("tells what an operation did", () => {
  expect(countsText({ before: 1200, after: 1199, added: 0, removed: 2, changed: 3 })).toBe(
    "1,199 rows of 1,200 (2 removed, 3 changed).",
  );
  expect(countsText({ before: 10, after: 10, added: 0, removed: 0, changed: 0 })).toBe("10 rows of 10.");
});
