import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import type { FoundRow } from "@/api/model";
import { renderWith } from "@/test/render";
import { noteText, RowList } from "./RowList";
import { rowWindow } from "./window";

const ROWS = ["one", "two", "three"].map((text, index): FoundRow => ({
  index: index * 10,
  id: text,
  text,
  length: 3,
  answer: null,
  tags: [],
  notes: index === 1 ? { difficulty: { pass_rate: 0.25 } } : {},
}));

function show() {
  const onOpen = vi.fn();
  const onSelect = vi.fn();
  renderWith(
    <RowList
      label="Rows"
      count={4}
      row={place => ROWS[place]}
      columns={[{ notes: "difficulty", column: "pass_rate" }]}
      window={rowWindow(4, 0, 600)}
      scrollTop={0}
      onScroll={() => {}}
      opened={null}
      onOpen={onOpen}
      selected={new Map([["three", 20]])}
      onSelect={onSelect}
    />,
  );
  return { onOpen, onSelect };
}

it("opens rows and selects them by keys, and shows what is known about them", async () => {
  const { onOpen, onSelect } = show();
  expect(screen.getAllByRole("row")).toHaveLength(5);
  expect(screen.getByText("0.250")).toBeTruthy();
  expect(screen.getByRole("row", { name: /three/u }).getAttribute("aria-selected")).toBe("true");
  screen.getByRole("grid").focus();
  await userEvent.keyboard("{ArrowDown}{Enter}{ArrowDown} {ArrowUp}{ArrowUp}{ArrowUp}{Enter}");
  expect(onOpen.mock.calls).toEqual([[10], [0]]);
  expect(onSelect.mock.calls).toEqual([[ROWS[2]]]);
});

it("opens the row that is clicked, and selects where its box is", async () => {
  const { onOpen, onSelect } = show();
  await userEvent.click(screen.getByText("two"));
  expect(onOpen.mock.calls).toEqual([[10]]);
  const cell = screen.getByRole("row", { name: /two/u }).querySelector<HTMLElement>("[data-select]");
  await userEvent.click(cell!);
  expect(onSelect.mock.calls).toEqual([[ROWS[1]]]);
  expect(onOpen).toHaveBeenCalledTimes(1);
});

it("writes values of notes shortly", () => {
  expect([null, true, 3, 0.5, "de"].map(noteText)).toEqual(["", "yes", "3", "0.500", "de"]);
});
