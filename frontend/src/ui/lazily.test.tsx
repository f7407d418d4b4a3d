import { act, fireEvent, render, screen } from "@testing-library/react";
import { Component, type ReactNode, Suspense } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { lazily } from "./lazily";

class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null };
  static getDerivedStateFromError = (error: Error) => ({ error });
  override render() {
    if (!this.state.error) return this.props.children;
    return <button onClick={() => this.setState({ error: null })}>Again</button>;
  }
}

const shown = (Part: ReturnType<typeof lazily<{ name: string }>>) =>
  render(
    <Boundary>
      <Suspense fallback="on its way">
        <Part name="tab" />
      </Suspense>
    </Boundary>,
  );

afterEach(() => vi.restoreAllMocks());

it("fetches once what comes", async () => {
  const load = vi.fn(() => Promise.resolve(({ name }: { name: string }) => <p>The {name}</p>));
  const Part = lazily(load);
  const first = await act(async () => shown(Part));
  screen.getByText("The tab");
  first.unmount();
  await act(async () => shown(Part));
  screen.getByText("The tab");
  expect(load).toHaveBeenCalledTimes(1);
});

it("fails as a whole, and is fetched anew when it is shown again", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const load = vi
    .fn<() => Promise<({ name }: { name: string }) => ReactNode>>()
    .mockRejectedValueOnce(new TypeError("Failed to fetch"))
    .mockResolvedValue(({ name }) => <p>The {name}</p>);
  await act(async () => shown(lazily(load)));
  await screen.findByRole("button", { name: "Again" });
  expect(load).toHaveBeenCalledTimes(1);
  await vi.waitFor(async () => {
    const again = screen.queryByRole("button", { name: "Again" });
    if (again) await act(async () => fireEvent.click(again));
    screen.getByText("The tab");
  });
  expect(load).toHaveBeenCalledTimes(2);
});
