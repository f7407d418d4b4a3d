import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { renderWith } from "@/test/render";
import { CodeForm } from "./CodeForm";

function stub(code: string) {
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    const given = init.body ? (JSON.parse(String(init.body)) as { code: string }).code : "123456";
    const right = given === "123456";
    const body = right ? { authenticated: true } : { status: 401, detail: "No.", error: { code } };
    const headers = { "content-type": right ? "application/json" : "application/problem+json" };
    return Promise.resolve(new Response(JSON.stringify(body), { status: right ? 200 : 401, headers }));
  });
}

async function give(code: string) {
  await userEvent.clear(screen.getByLabelText("Code"));
  await userEvent.type(screen.getByLabelText("Code"), code);
  await userEvent.click(screen.getByRole("button", { name: "Continue" }));
}

it("says which code is wrong, and goes on with the right one", async () => {
  stub("wrong_code");
  const onDone = vi.fn();
  renderWith(<CodeForm onDone={onDone} />);
  await give("000000");
  expect(await screen.findByText("The code is wrong, or was used before.")).toBeTruthy();
  expect(onDone).not.toHaveBeenCalled();
  await give("123456");
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
});

it("sends back to the password when the first step has expired", async () => {
  stub("no_second_step");
  renderWith(<CodeForm onDone={vi.fn()} />);
  await give("000000");
  expect(await screen.findByRole("button", { name: "Enter the password again" })).toBeTruthy();
});
