import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { act, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Problem } from "@/api/http";
import { renderWith } from "@/test/render";
import { ErrorPage } from "./ErrorState";

let answer: () => Promise<void>;
let asked: number;

/** A page that asks the platform for something before it is shown. */
async function openPage(): Promise<void> {
  const root = createRootRoute({
    beforeLoad: () => {
      asked += 1;
      return answer();
    },
    component: () => <h1>The page</h1>,
  });
  const history = createMemoryHistory({ initialEntries: ["/"] });
  const router = createRouter({ routeTree: root, history, defaultErrorComponent: ErrorPage });
  renderWith(<RouterProvider router={router} />);
  await pass(100);
}

const pass = (time: number) => act(() => vi.advanceTimersByTimeAsync(time));

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  asked = 0;
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it.each([
  ["the network", new TypeError("Failed to fetch")],
  ["the database", new Problem(503, { detail: "A part of the platform is away. Try again." })],
])("shows the page by itself once %s is there again", async (_what, error) => {
  answer = () => Promise.reject(error);
  await openPage();
  expect(screen.getByRole("alert")).toBeTruthy();
  await pass(5000);
  expect(screen.getByRole("alert")).toBeTruthy();
  answer = () => Promise.resolve();
  await pass(5100);
  expect(screen.getByRole("heading").textContent).toBe("The page");
  const before = asked;
  await pass(20_000);
  expect(asked).toBe(before);
});

it("asks at once when the browser has a network again", async () => {
  answer = () => Promise.reject(new TypeError("Failed to fetch"));
  await openPage();
  answer = () => Promise.resolve();
  window.dispatchEvent(new Event("online"));
  await pass(100);
  expect(screen.getByRole("heading").textContent).toBe("The page");
});

it("does not ask again by itself what was refused", async () => {
  answer = () => Promise.reject(new Problem(403, { detail: "Not allowed." }));
  await openPage();
  const before = asked;
  await pass(20_000);
  expect(asked).toBe(before);
  expect(screen.getByText("Not allowed.")).toBeTruthy();
});
