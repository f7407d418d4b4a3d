import { useQuery } from "@tanstack/react-query";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { Problem } from "@/api/http";
import { renderWith } from "@/test/render";
import { ErrorState } from "@/ui/ErrorState";
import { FailedParts } from "./FailedParts";

const FAULT = new Problem(503, { title: "Temporarily unavailable", detail: "A part of the platform is away." });
const REFUSAL = new Problem(403, { title: "Not allowed", detail: "Admins may." });

function Picker({ load, tells = false }: { load: () => Promise<string[]>; tells?: boolean }) {
  const query = useQuery({ queryKey: ["run", "run_1", "worst-tokens"], queryFn: load });
  return (
    <>
      {tells && query.error && <ErrorState error={query.error} />}
      <p>{query.status}</p>
    </>
  );
}

const bar = () => screen.queryByText("Some of this page could not be loaded");
const page = (load: () => Promise<string[]>, tells = false) => (
  <>
    <Picker load={load} tells={tells} />
    <FailedParts />
  </>
);

it("tells what failed and stands nowhere, until it is there", async () => {
  const load = vi.fn().mockRejectedValueOnce(FAULT).mockResolvedValueOnce([]);
  renderWith(page(load));
  await screen.findByText("Some of this page could not be loaded");
  expect(screen.getByRole("alert").textContent).toContain("Worst tokens: A part of the platform is away.");
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(bar()).toBeNull());
  expect(load).toHaveBeenCalledTimes(2);
});

it("leaves to a page what it tells itself", async () => {
  renderWith(page(() => Promise.reject(FAULT), true));
  await screen.findByText("error");
  await waitFor(() => expect(bar()).toBeNull());
  expect(screen.getByRole("alert").textContent).toContain("A part of the platform is away.");
});

it("takes a refusal for an answer", async () => {
  renderWith(page(() => Promise.reject(REFUSAL)));
  await screen.findByText("error");
  expect(bar()).toBeNull();
});

it("forgets what no part of the page asks for any more", async () => {
  const view = renderWith(page(() => Promise.reject(FAULT)));
  await screen.findByText("Some of this page could not be loaded");
  view.update(<FailedParts />);
  await waitFor(() => expect(bar()).toBeNull());
});
