import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { Problem } from "@/api/http";
import type { Dataset } from "@/api/model";
import { restError } from "@/api/problems";
import { renderWith } from "@/test/render";
import { NO_SYNTHESIS, SYNTHESIS_FIELDS, type SynthesisFields } from "./synthesis";
import { SynthesisGrading } from "./SynthesisGrading";
import { SynthesisMore } from "./SynthesisMore";
import { SynthesisOptions } from "./SynthesisOptions";
import { SynthesisTarget } from "./SynthesisTarget";

const DATASET = { name: "Sums", slug: "sums" } as Dataset;
const REWARD = { name: "Right", versions: [1, 2].map(number => ({ number, ref: `right@${number}` })) };

beforeEach(() => {
  vi.stubGlobal("fetch", (url: string) => {
    const data = url.includes("/rewards") ? [REWARD] : [];
    const headers = { "content-type": "application/json" };
    return Promise.resolve(new Response(JSON.stringify({ data, next_cursor: null }), { status: 200, headers }));
  });
});

let latest: SynthesisFields;

function Form({ error = null }: { error?: unknown }) {
  const [value, setValue] = useState(NO_SYNTHESIS);
  const onChange = (next: SynthesisFields) => {
    latest = next;
    setValue(next);
  };
  const given = { value, onChange, error };
  return (
    <>
      <SynthesisOptions {...given} />
      <SynthesisGrading {...given} />
      <SynthesisTarget dataset={DATASET} {...given} />
      <SynthesisMore {...given} />
    </>
  );
}

const isFolded = () => !screen.getByTestId<HTMLDetailsElement>("synthesis-more").open;
const refused = (pointer: string, detail: string) =>
  new Problem(422, { title: "Invalid request", detail, errors: [{ pointer, detail }] });

it("has the purpose set the instruction and the numbers, which stay free to choose", async () => {
  const user = userEvent.setup();
  renderWith(<Form />);
  const keep = screen.getByLabelText("Keep the numbers");
  expect(keep).toHaveProperty("checked", true);
  await user.click(screen.getByRole("combobox", { name: "Purpose" }));
  await user.click(screen.getByText("Irrelevant detail"));
  expect(keep).toHaveProperty("checked", false);
  expect(latest.instruction).toContain("add a fact with a number");
  await user.click(keep);
  expect(latest).toMatchObject({ purpose: "distraction", sameNumbers: true });
  expect(screen.getByText(/It never sees the answer/)).toBeTruthy();
  await user.click(screen.getByRole("combobox", { name: "Purpose" }));
  await user.click(screen.getByText("Whole-number answers"));
  expect(latest).toMatchObject({ purpose: "whole", sameNumbers: false });
  expect(screen.getByText(/It sees the answer and writes the new one/)).toBeTruthy();
});

it("grades by a version of a reward, and makes a new dataset once that has a name", async () => {
  const user = userEvent.setup();
  renderWith(<Form />);
  await user.click(screen.getByRole("combobox", { name: "Graded by" }));
  await user.click(await screen.findByText("Right, version 2"));
  expect(latest.reward).toBe("right@2");
  expect(screen.queryByLabelText("Name of the new dataset")).toBeNull();
  await user.click(screen.getByRole("combobox", { name: "Result" }));
  await user.click(screen.getByText("A new dataset"));
  const name = screen.getByLabelText("Name of the new dataset");
  expect(name).toHaveProperty("value", "Sums with variations");
  await user.clear(name);
  expect(screen.getByText("Enter a name.")).toBeTruthy();
});

it("folds what its defaults are right for, until one of it is at fault", async () => {
  const user = userEvent.setup();
  renderWith(<Form />);
  expect(isFolded()).toBe(true);
  await user.click(screen.getByText("More options"));
  const most = screen.getByLabelText("Correct up to");
  await user.clear(most);
  await user.type(most, "40");
  expect(screen.getByText("Must be at least 50 %.")).toBeTruthy();
  expect(latest.most).toBe(40);
});

it("shows each refusal at its field, and leaves others to the card", () => {
  for (const [pointer, detail] of [
    ["/slug", "There is already a dataset 'sums'."],
    ["/operation/reward", "right@2 grades by code."],
    ["/operation/query", "The query finds no row."],
    ["/operation/solver", "There is no judge endpoint 'x'."],
    ["/operation/max_tokens", "Input should be at most 65536."],
  ] as const) {
    const error = refused(pointer, detail);
    const into = pointer === "/slug";
    const view = renderWith(
      into ? (
        <SynthesisTarget
          dataset={DATASET}
          value={{ ...NO_SYNTHESIS, into: "Sums" }}
          onChange={() => {}}
          error={error}
        />
      ) : (
        <Form error={error} />
      ),
    );
    expect(screen.getByText(detail)).toBeTruthy();
    expect(restError(error, SYNTHESIS_FIELDS)).toBeNull();
    if (pointer === "/operation/max_tokens") expect(isFolded()).toBe(false);
    view.unmount();
  }
  const whole = refused("/operation", "Too many rows.");
  expect(restError(whole, SYNTHESIS_FIELDS)).toBe(whole);
});
