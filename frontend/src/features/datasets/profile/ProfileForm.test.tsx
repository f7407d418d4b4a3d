import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import type { Dataset, DatasetVersion } from "@/api/model";
import { renderWith } from "@/test/render";
import { ProfileForm } from "./ProfileForm";

afterEach(() => vi.unstubAllGlobals());

it("asks for room for the longest prompt, and shows at its field why the policy has none", async () => {
  const user = userEvent.setup();
  const detail = "The policy knows 4096 positions.";
  const bodies: { spec: { rollout: object } }[] = [];
  vi.stubGlobal("fetch", (url: string, { method, body }: RequestInit) => {
    if (method === "POST") {
      bodies.push(JSON.parse(String(body)) as (typeof bodies)[number]);
      const errors = [{ pointer: "/spec/rollout/engine/max_model_len", detail }];
      return Promise.resolve(Response.json({ detail: "It cannot run.", errors }, { status: 422 }));
    }
    const policy = { slug: "small", name: "Small" };
    const reward = { latest_version: { ref: "sums@1" } };
    return Promise.resolve(Response.json({ data: [url.includes("rewards") ? reward : policy] }));
  });
  renderWith(
    <ProfileForm
      dataset={{ slug: "sums" } as Dataset}
      version={{ number: 1, rows: 10 } as DatasetVersion}
      onDone={vi.fn()}
    />,
  );
  await user.click(await screen.findByLabelText("Policy", { selector: "input" }));
  await user.click(await screen.findByText("Small"));
  await user.click(screen.getByLabelText("Reward", { selector: "input" }));
  await user.click(await screen.findByText("sums@1"));
  const field = screen.getByLabelText("Longest prompt");
  await user.clear(field);
  await user.type(field, "4000");
  await user.click(screen.getByRole("button", { name: "Estimate cost" }));
  expect(await screen.findByText(detail)).toBeTruthy();
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(screen.queryByText("It cannot run.")).toBeNull();
  expect(bodies[0]?.spec.rollout).toEqual({ max_tokens: 512, engine: { max_model_len: 4512 } });
});
