import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import type { PolicyImport } from "@/api/model";
import { renderWith } from "@/test/render";
import { AddPolicyForm } from "./AddPolicyForm";
import { ImportCard } from "./Imports";

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
const PLACE = {
  endpoint: "https://mirror.example",
  available: true,
  has_credentials: false,
  set_by: null,
  set_at: null,
};
const sent: { url: string; body: unknown }[] = [];

afterEach(() => {
  sent.length = 0;
  vi.unstubAllGlobals();
});

function answer(posted: () => Response) {
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    if (init.method !== "POST") return Promise.resolve(json(200, { hub: PLACE, bucket: { ...PLACE, endpoint: null } }));
    sent.push({ url, body: init.body ? JSON.parse(init.body as string) : null });
    return Promise.resolve(posted());
  });
}

it("imports from the hub by name and revision, and says how it is asked", async () => {
  const user = userEvent.setup();
  const done = vi.fn();
  answer(() => json(201, { id: "imp_1" }));
  renderWith(<AddPolicyForm onDone={done} />);
  await user.type(screen.getByLabelText(/Repository/), "https://huggingface.co/Qwen/Qwen3-0.6B");
  await user.type(screen.getByLabelText(/Revision/), "refs/pr/1");
  expect(screen.getByLabelText(/^Name/)).toHaveProperty("value", "Qwen3-0.6B");
  expect(await screen.findByText(/Fetched from https:\/\/mirror.example without credentials/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Import" }));
  await waitFor(() => expect(done).toHaveBeenCalledOnce());
  expect(sent).toEqual([
    {
      url: expect.stringContaining("/policy-imports") as string,
      body: { name: "Qwen3-0.6B", source: "hub", location: "Qwen/Qwen3-0.6B", revision: "refs/pr/1" },
    },
  ]);
});

it("takes the revision that a pasted address names", async () => {
  const user = userEvent.setup();
  answer(() => json(201, { id: "imp_1" }));
  renderWith(<AddPolicyForm onDone={vi.fn()} />);
  await user.click(screen.getByLabelText(/Repository/));
  await user.paste("https://huggingface.co/Qwen/Qwen3-0.6B/tree/refs%2Fpr%2F1?x=1");
  expect(screen.getByLabelText(/Revision/)).toHaveProperty("value", "refs/pr/1");
  await user.click(screen.getByRole("button", { name: "Import" }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]!.body).toMatchObject({ location: "Qwen/Qwen3-0.6B", revision: "refs/pr/1" });
});

it("registers a folder, and imports from a bucket, in the same form", async () => {
  const user = userEvent.setup();
  answer(() => json(201, { id: "x" }));
  renderWith(<AddPolicyForm onDone={vi.fn()} />);
  await user.click(screen.getByText("Object store"));
  await user.type(screen.getByLabelText(/Address/), "s3://models/one");
  await user.click(screen.getByRole("button", { name: "Import" }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]!.body).toEqual({ name: "one", source: "bucket", location: "s3://models/one", revision: "" });
  await user.click(screen.getByText("Folder", { selector: "span" }));
  await user.type(screen.getByLabelText(/Folder/, { selector: "input[type=text], input:not([type])" }), "/models/two");
  await user.click(screen.getByRole("button", { name: "Register" }));
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]!.body).toEqual({ name: "two", path: "/models/two" });
});

it("shows a refusal at its field", async () => {
  const user = userEvent.setup();
  const detail = "Give the name of a repository as the hub has it, such as Qwen/Qwen3-0.6B.";
  const errors = [{ pointer: "/location", detail }];
  answer(() => json(422, { type: "urn", title: "Invalid request", status: 422, detail, instance: "", errors }));
  renderWith(<AddPolicyForm onDone={vi.fn()} />);
  await user.type(screen.getByLabelText(/Repository/), "a b");
  await user.click(screen.getByRole("button", { name: "Import" }));
  expect(await screen.findByText(detail)).toBeTruthy();
});

const FAILED = {
  id: "imp_1",
  name: "Tiny",
  location: "tiny/policy",
  revision: "",
  commit: "0123456789abcdef",
  state: "failed",
  error: "tiny/policy is gated. Accept its conditions.",
} as PolicyImport;

it("says why an import has failed, and tries it again", async () => {
  const user = userEvent.setup();
  answer(() => json(200, { ...FAILED, state: "queued" }));
  renderWith(<ImportCard row={FAILED} editor />);
  expect(screen.getByRole("alert").textContent).toContain("Accept its conditions.");
  expect(screen.getByText(/@ 01234567/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Retry" }));
  await waitFor(() => expect(sent[0]?.url).toContain("/policy-imports/imp_1/retry"));
});

it("puts a failed import away", async () => {
  const user = userEvent.setup();
  answer(() => json(200, { ...FAILED, state: "cancelled" }));
  renderWith(<ImportCard row={FAILED} editor />);
  await user.click(screen.getByRole("button", { name: "Remove" }));
  await waitFor(() => expect(sent[0]?.url).toContain("/policy-imports/imp_1/cancel"));
});

it("offers nothing to those who only read", () => {
  renderWith(<ImportCard row={FAILED} editor={false} />);
  expect(screen.queryByRole("button")).toBeNull();
});
