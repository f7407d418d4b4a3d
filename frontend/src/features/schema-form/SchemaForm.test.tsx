import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, describe, expect, it } from "vitest";
import type { Json, JsonSchema } from "@/api/model";
import { renderWith } from "@/test/render";
import { SCHEMA } from "./fixture";
import { SchemaForm } from "./SchemaForm";
import { withDefaults } from "./schema";

const START = withDefaults(SCHEMA, SCHEMA, { sources: [{ name: "add", weight: 2 }] });
const LIST: JsonSchema = { type: "object", properties: { values: { type: "array", items: {} } } };
let latest: Json;
beforeEach(() => {
  latest = START;
});

function Form({ errors = [] }: { errors?: { pointer: string; detail: string }[] }) {
  const [value, setValue] = useState<Json>(START);
  const change = (next: Json) => {
    latest = next;
    setValue(next);
  };
  return <SchemaForm schema={SCHEMA} value={value} base={START} errors={errors} onChange={change} />;
}

describe("unions", () => {
  it("draws the parameters of the chosen member, and keeps what was typed while another is tried", async () => {
    const user = userEvent.setup();
    renderWith(<Form />);
    const choose = async (name: string) => {
      await user.click(screen.getByRole("combobox", { name: "Curriculum" }));
      await user.click(await screen.findByRole("option", { name }));
    };
    expect(screen.queryByLabelText("Low")).toBeNull();
    await choose("Difficulty band");
    await user.clear(screen.getByLabelText("Low"));
    await user.type(screen.getByLabelText("Low"), "0.2");
    expect(latest).toMatchObject({ curriculum: { type: "band", low: 0.2 } });
    await choose("Uniform");
    expect(latest).toMatchObject({ curriculum: { type: "uniform" } });
    await choose("Difficulty band");
    expect(latest).toMatchObject({ curriculum: { type: "band", low: 0.2 } });
    expect(screen.getByText("a ≤ p ≤ b")).toBeTruthy();
  });
});

describe("values", () => {
  it("takes numbers in scientific notation, and leaves what is no number for the platform to refuse", async () => {
    const user = userEvent.setup();
    renderWith(<Form />);
    const rate = screen.getByLabelText("Rate");
    await user.clear(rate);
    await user.type(rate, "2e-5");
    expect(latest).toMatchObject({ rate: 0.00002 });
    await user.type(rate, "x");
    expect(latest).toMatchObject({ rate: "2e-5x" });
  });

  it("switches an optional value on and off, and remembers it", async () => {
    const user = userEvent.setup();
    renderWith(<Form />);
    await user.click(screen.getByRole("switch", { name: "Set Budget" }));
    expect(latest).toMatchObject({ budget: 0 });
    await user.clear(screen.getByLabelText("Budget"));
    await user.type(screen.getByLabelText("Budget"), "48");
    await user.click(screen.getByRole("switch", { name: "Set Budget" }));
    expect(latest).toMatchObject({ budget: null });
    await user.click(screen.getByRole("switch", { name: "Set Budget" }));
    expect(latest).toMatchObject({ budget: 48 });
  });

  it("adds members up to the limit and keeps the last that must stay", async () => {
    const user = userEvent.setup();
    renderWith(<Form />);
    expect(screen.getByRole("button", { name: "Remove source add" })).toHaveProperty("disabled", true);
    await user.click(screen.getByRole("button", { name: "Add source" }));
    expect(latest).toMatchObject({
      sources: [
        { name: "add", weight: 2 },
        { name: "", weight: 1 },
      ],
    });
    expect(screen.queryByRole("button", { name: "Add source" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Remove source add" }));
    expect(latest).toMatchObject({ sources: [{ name: "", weight: 1 }] });
  });

  it("marks what differs from the preset and puts it back", async () => {
    const user = userEvent.setup();
    renderWith(<Form />);
    await user.clear(screen.getByLabelText("Weight"));
    await user.type(screen.getByLabelText("Weight"), "7");
    await user.click(screen.getByRole("button", { name: "Reset Weight to 2" }));
    expect(latest).toEqual(START);
  });
});

it("shows each fault at the field of its pointer", () => {
  const { container } = renderWith(
    <Form
      errors={[
        { pointer: "/sources/0/name", detail: "the source name 'add' is used twice" },
        { pointer: "/sources", detail: "at least one source needs a weight above zero" },
      ]}
    />,
  );
  const field = container.querySelector('[data-pointer="sources/0/name"]') as HTMLElement;
  expect(within(field).getByText(/used twice/)).toBeTruthy();
  const list = container.querySelector('[data-pointer="sources"]') as HTMLElement;
  expect(within(list).getByRole("alert").textContent).toContain("above zero");
});

it("keeps what is typed in a member with that member while others come and go", async () => {
  const user = userEvent.setup();
  function List() {
    const [value, setValue] = useState<Json>({ values: [1, 2] });
    return <SchemaForm schema={LIST} value={value} onChange={setValue} />;
  }
  renderWith(<List />);
  const fields = () => screen.getAllByRole("textbox").map(one => (one as HTMLTextAreaElement).value);
  await user.type(screen.getAllByRole("textbox")[0] as HTMLElement, "x");
  expect(fields()).toEqual(["1x", "2"]);
  expect(screen.getByText("Invalid JSON.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Move value 2 up" }));
  expect(fields()).toEqual(["2", "1x"]);
  await user.click(screen.getByRole("button", { name: "Remove value 2" }));
  expect(fields()).toEqual(["2"]);
  expect(screen.queryByText("Invalid JSON.")).toBeNull();
});
