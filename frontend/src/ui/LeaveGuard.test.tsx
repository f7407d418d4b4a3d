import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { useState } from "react";
import { expect, it } from "vitest";
import { renderWith } from "@/test/render";
import { LeaveGuard } from "./LeaveGuard";

function Form() {
  const [text, setText] = useState("");
  return (
    <>
      <LeaveGuard when={text !== ""}>The text would be lost.</LeaveGuard>
      <input aria-label="Text" value={text} onChange={event => setText(event.currentTarget.value)} />
      <Link to="/team">Away</Link>
    </>
  );
}

function renderForm() {
  const root = createRootRoute({ component: Outlet });
  const form = createRoute({ getParentRoute: () => root, path: "/", component: Form });
  const other = createRoute({ getParentRoute: () => root, path: "/team", component: () => <p>elsewhere</p> });
  const history = createMemoryHistory({ initialEntries: ["/"] });
  const router = createRouter({ routeTree: root.addChildren([form, other]), history });
  renderWith(<RouterProvider router={router as never} />);
}

it("lets go where nothing was typed", async () => {
  renderForm();
  await userEvent.click(await screen.findByText("Away"));
  expect(await screen.findByText("elsewhere")).toBeTruthy();
});

it("asks first where something was, and stays or goes as told", async () => {
  const user = userEvent.setup();
  renderForm();
  await user.type(await screen.findByLabelText("Text"), "abc");
  await user.click(screen.getByText("Away"));
  expect(await screen.findByText("The text would be lost.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Stay" }));
  await waitFor(() => expect(screen.queryByText("The text would be lost.")).toBeNull());
  expect(screen.getByLabelText("Text")).toHaveProperty("value", "abc");
  await user.click(screen.getByText("Away"));
  await user.click(await screen.findByRole("button", { name: "Discard changes" }));
  expect(await screen.findByText("elsewhere")).toBeTruthy();
});
