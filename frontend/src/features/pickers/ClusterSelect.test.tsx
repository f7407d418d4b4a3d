import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderWith } from "@/test/render";
import { ClusterSelect } from "./ClusterSelect";

const SIZE = { last_seen: "2026-11-22T12:00:00.000Z", cpus: 4, gpus: [], places: 1, places_free: 1, others: 0 };

afterEach(() => vi.unstubAllGlobals());

function open(names: string[], fork: boolean, onChange = vi.fn()) {
  const answered = vi.fn();
  vi.stubGlobal("fetch", () => {
    const body = JSON.stringify({ object: "list", data: names.map(name => ({ name, ...SIZE })) });
    answered();
    return Promise.resolve(new Response(body, { status: 200, headers: { "content-type": "application/json" } }));
  });
  renderWith(<ClusterSelect value={undefined} fork={fork} onChange={onChange} />);
  return { onChange, answered };
}

it("asks nothing where there is one cluster", async () => {
  const { answered } = open(["default"], false);
  await waitFor(() => expect(answered).toHaveBeenCalled());
  expect(screen.queryByLabelText("Cluster")).toBeNull();
});

it("offers each cluster by name and size, and any", async () => {
  const { onChange } = open(["here", "far"], false);
  const select = await screen.findByRole<HTMLInputElement>("combobox", { name: "Cluster" });
  expect(select.value).toMatch(/^Any/);
  const user = userEvent.setup();
  await user.click(select);
  await user.click(await screen.findByText("far (4 CPUs, 0 GPUs; 1 of 1 free)"));
  expect(onChange).toHaveBeenLastCalledWith("far");
});

it("lets a fork go where its parent was to go", async () => {
  const { onChange } = open(["here", "far"], true);
  const select = await screen.findByRole<HTMLInputElement>("combobox", { name: "Cluster" });
  expect(select.value).toBe("Same as the forked run");
  const user = userEvent.setup();
  await user.click(select);
  await user.click(await screen.findByText(/^Any/));
  expect(onChange).toHaveBeenLastCalledWith(null);
});
