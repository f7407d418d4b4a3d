import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it } from "vitest";
import type { Json } from "@/api/model";
import { SchemaForm } from "@/features/schema-form/SchemaForm";
import { renderWith } from "@/test/render";
import { RubricItems } from "./RubricItems";

const ITEMS: Json = [
  { name: "correct", description: "The result is right.", weight: 6 },
  { name: "brief", description: "No padding.", weight: 2 },
];

function Editor({ readOnly = false }: { readOnly?: boolean }) {
  const [items, setItems] = useState<Json>(ITEMS);
  return (
    <SchemaForm schema={{}} value={null} onChange={() => {}} readOnly={readOnly}>
      <RubricItems path={["items"]} value={items} onChange={setItems} max={3} />
    </SchemaForm>
  );
}

const names = () => screen.getAllByTestId("rubric-item").map(row => row.getAttribute("data-name"));

it("moves an item by keyboard, and the focus goes with it", async () => {
  const user = userEvent.setup();
  renderWith(<Editor />);
  const field = screen.getByLabelText("Description of brief");
  await user.click(field);
  await user.keyboard("{Alt>}{ArrowUp}{/Alt}");
  expect(names()).toEqual(["brief", "correct"]);
  expect(document.activeElement).toBe(screen.getByLabelText("Description of brief"));
  await user.keyboard("{Alt>}{ArrowUp}{/Alt}");
  expect(names()).toEqual(["brief", "correct"]);
});

it("duplicates up to the limit, deletes, and tells the total of what can be won", async () => {
  const user = userEvent.setup();
  renderWith(<Editor />);
  expect(screen.getByTestId("rubric-total").textContent).toBe("2 items · positive weights 8");
  await user.click(screen.getByRole("button", { name: "Duplicate: brief" }));
  expect(names()).toEqual(["correct", "brief", "brief_2"]);
  expect(screen.queryByTestId("add-item")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Delete: correct" }));
  expect(screen.getByTestId("rubric-total").textContent).toBe("2 items · positive weights 4");
});

it("shows a negative weight as a pitfall", async () => {
  const user = userEvent.setup();
  renderWith(<Editor />);
  await user.click(screen.getByTestId("add-pitfall"));
  const row = screen.getAllByTestId("rubric-item").at(-1) as HTMLElement;
  expect(row.getAttribute("data-pitfall")).toBe("true");
  expect(within(row).getByText(/pitfall/).textContent).toContain("−13 %");
});

it("offers nothing to change to those who may only look", () => {
  renderWith(<Editor readOnly />);
  expect(screen.queryByTestId("add-item")).toBeNull();
  expect(screen.queryByRole("button")).toBeNull();
  expect(screen.getByLabelText("Description of brief")).toHaveProperty("disabled", true);
});
