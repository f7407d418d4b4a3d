import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { Problem } from "@/api/http";
import { renderWith } from "@/test/render";
import { Loaded } from "./Loaded";

const NOTHING = { data: undefined, isError: false, error: null, refetch: vi.fn() };
const FAULT = new Problem(503, { title: "Temporarily unavailable", detail: "A part of the platform is away." });
const list = (
  query: typeof NOTHING | { data: string | undefined; isError: boolean; error: unknown; refetch: () => unknown },
) => (
  <Loaded query={query} skeleton={<p>soon</p>}>
    {data => <input aria-label="Note" defaultValue={data} />}
  </Loaded>
);

it("shows the skeleton, then the data", () => {
  const view = renderWith(list(NOTHING));
  expect(screen.getByText("soon")).toBeTruthy();
  view.update(list({ ...NOTHING, data: "a" }));
  expect(screen.queryByText("soon")).toBeNull();
  expect(screen.getByLabelText("Note")).toBeTruthy();
});

it("says why there is nothing, and asks again", async () => {
  const refetch = vi.fn();
  renderWith(list({ ...NOTHING, isError: true, error: FAULT, refetch }));
  expect(screen.getByRole("alert").textContent).toContain("A part of the platform is away.");
  expect(screen.queryByText("soon")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(refetch).toHaveBeenCalledOnce();
});

it("does not offer to ask again for what is not there", () => {
  const gone = new Problem(404, { title: "Not found", detail: "There is no reward 'x' in this team." });
  renderWith(list({ ...NOTHING, isError: true, error: gone }));
  expect(screen.getByRole("alert").textContent).toContain("There is no reward 'x' in this team.");
  expect(screen.queryByRole("button")).toBeNull();
});

it("leaves no page where nothing but it was on it", async () => {
  const gone = new Problem(404, { title: "Not found", detail: "There is no reward 'x' in this team." });
  const page = () => (
    <Loaded page query={{ ...NOTHING, isError: true, error: gone }}>
      {() => null}
    </Loaded>
  );
  const router = createRouter({ routeTree: createRootRoute({ component: page }), history: createMemoryHistory() });
  renderWith(<RouterProvider router={router as never} />);
  expect((await screen.findByRole("heading")).textContent).toBe("Not found");
  expect(screen.queryByRole("alert")).toBeNull();
});

it("keeps what is there, and what was typed in it, when asking again fails", async () => {
  const view = renderWith(list({ ...NOTHING, data: "a" }));
  await userEvent.type(screen.getByLabelText("Note"), "bc");
  view.update(list({ ...NOTHING, data: "a", isError: true, error: FAULT }));
  expect(screen.getByRole("alert")).toBeTruthy();
  expect(screen.getByLabelText("Note")).toHaveProperty("value", "abc");
});
