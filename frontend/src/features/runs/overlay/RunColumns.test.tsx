import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import type { Run } from "@/api/model";
import { renderWith } from "@/test/render";
import { RunColumns } from "./RunColumns";

const rows = (count: number) =>
  Array.from({ length: count }, (_, place) => ({ key: `k${place}`, head: `Key ${place}`, cells: [`${place}`] }));

function show(count: number, few?: number) {
  const runs = [{ id: "run_1", name: "One" }] as Run[];
  renderWith(<RunColumns title="What differs" description="" runs={runs} rows={rows(count)} few={few} testId="t" />);
  return () => screen.getAllByRole("row").length - 1;
}

it("shows a few rows, and all when asked", async () => {
  const user = userEvent.setup();
  const shown = show(9, 3);
  expect(shown()).toBe(3);
  await user.click(screen.getByRole("button", { name: "All 9", expanded: false }));
  expect(shown()).toBe(9);
  await user.click(screen.getByRole("button", { name: "Only 3", expanded: true }));
  expect(shown()).toBe(3);
});

it("folds nothing for the sake of one row, and nothing where nobody asks for it", () => {
  expect(show(4, 3)()).toBe(4);
  expect(screen.queryByRole("button")).toBeNull();
});

it("shows all rows where it is to be read as a whole", () => {
  expect(show(9)()).toBe(9);
  expect(screen.queryByRole("button")).toBeNull();
});
