import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderWith } from "@/test/render";
import { CodeEditor } from "./CodeEditor";

const editor = (value: string, onChange: (text: string) => void, error?: string) => (
  <CodeEditor id="source" label="Source" value={value} error={error} onChange={onChange} />
);
const field = () => screen.getByRole("textbox", { name: "Source" });

it("shows the program with its label, and what is wrong with it", async () => {
  const view = renderWith(editor("x = 1", vi.fn()));
  await waitFor(() => expect(field().textContent).toBe("x = 1"));
  expect(field().id).toBe("source");
  expect(field().getAttribute("aria-invalid")).toBe("false");
  view.update(editor("x = 1", vi.fn(), "not a Python program"));
  expect(screen.getByRole("alert").textContent).toBe("not a Python program");
  expect(field().getAttribute("aria-invalid")).toBe("true");
});

it("follows a text from outside without calling that a change", async () => {
  const onChange = vi.fn();
  const view = renderWith(editor("x = 1", onChange));
  await waitFor(() => expect(field().textContent).toBe("x = 1"));
  view.update(editor("y = 2", onChange));
  expect(field().textContent).toBe("y = 2");
  expect(onChange).not.toHaveBeenCalled();
});
