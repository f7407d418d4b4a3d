import type { ReactNode } from "react";
import { expect, test, vi } from "vitest";
import type { Run } from "@/api/model";
import { renderWith } from "@/test/render";
import { WaitingFact } from "./WaitingFact";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ to, children }: { to: string; children: ReactNode }) => <a href={to}>{children}</a>,
}));

const REASON = "Waiting for a place: 2 of 2 taken by “first” (paused) and 1 run of other teams; 1st in your queue.";

test("a waiting run says why, and leads to the team's runs that hold places", () => {
  const waiting = { own: [{ id: "run_1", name: "first", state: "paused" }] };
  const view = renderWith(<WaitingFact run={{ state_reason: REASON, waiting } as Run} />);
  expect(view.getByTestId("waiting").textContent).toBe(`${REASON}Open: first`);
  expect(view.getByRole("link", { name: "first" }).getAttribute("href")).toBe("/runs/run_1");
});

test("a run that waits for other teams' runs alone leads nowhere", () => {
  const view = renderWith(<WaitingFact run={{ state_reason: REASON, waiting: { own: [] } } as unknown as Run} />);
  expect(view.getByTestId("waiting").textContent).toBe(REASON);
  expect(view.queryByRole("link")).toBeNull();
});
