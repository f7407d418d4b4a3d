import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderWith } from "@/test/render";
import { useSubmit } from "./useSubmit";

const sent: string[] = [];
let answer: () => void = () => {};

function Form() {
  const save = useSubmit({
    mutationFn: (name: string) => {
      sent.push(name);
      return new Promise<void>(resolve => (answer = resolve));
    },
  });
  const twice = () => {
    save.mutate("first");
    save.mutate("second");
  };
  return <button onClick={twice}>{save.isPending ? "Saving" : "Save"}</button>;
}

it("sends once while it is on its way, and again when it has arrived", async () => {
  renderWith(<Form />);
  await userEvent.click(screen.getByRole("button"));
  expect(await screen.findByText("Saving")).toBeTruthy();
  expect(sent).toEqual(["first"]);
  answer();
  expect(await screen.findByText("Save")).toBeTruthy();
  await userEvent.click(screen.getByRole("button"));
  await waitFor(() => expect(sent).toEqual(["first", "first"]));
});
