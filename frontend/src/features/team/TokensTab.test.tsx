import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ServiceAccount, Token } from "@/api/model";
import { renderWith } from "@/test/render";
import { TokensTab } from "./TokensTab";

const NOBODYS = {
  id: "tok_1",
  name: "old",
  prefix: "drs_abcdefgh",
  role: "admin",
  effective_role: "admin",
  scopes: null,
  owner: { kind: "nobody", id: null, name: null },
  state: "active",
  created_by: "token:gone",
  created_at: "2026-01-01T00:00:00Z",
  expires_at: "2999-01-01T00:00:00Z",
  last_used_at: "2026-11-01T00:00:00Z",
  last_used_address: "192.0.2.7",
} as Token;
const ACCOUNT = { id: "sva_1", name: "nightly", role: "editor", disabled_at: null, live_tokens: 0 } as ServiceAccount;
const DISABLED = { ...ACCOUNT, id: "sva_2", name: "asleep", disabled_at: "2026-11-01T00:00:00Z" };
const OPTIONS = {
  default_days: 90,
  max_days: 365,
  scopes: [
    { name: "runs:read", description: "See runs" },
    { name: "runs:write", description: "Also start runs" },
    { name: "team:read", description: "See the team" },
    { name: "team:write", description: "Also change members" },
  ],
};
const sent: { path: string; body: Record<string, unknown> }[] = [];

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

function answer(url: string, init: RequestInit): Response {
  const path = url.replace(/^.*\/api\/v1/, "").replace(/\?.*$/, "");
  if (init.method === "POST" || init.method === "PATCH") {
    const body = JSON.parse(String(init.body)) as Record<string, unknown>;
    sent.push({ path, body });
    return json(201, { ...NOBODYS, ...body, secret: "drs_shown-once" });
  }
  if (path === "/tokens/options") return json(200, OPTIONS);
  return json(200, { data: path === "/tokens" ? [NOBODYS] : [ACCOUNT, DISABLED], has_more: false, next: null });
}

beforeEach(() => {
  sent.length = 0;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => Promise.resolve(answer(url, init)));
});
afterEach(() => vi.unstubAllGlobals());

function tab() {
  const { client } = renderWith(<TokensTab />);
  client.setQueryData(["session"], { authenticated: true, user: { email: "ada@example.com" }, role: "admin" });
}

it("makes a token with an end and scopes, and shows its secret once", async () => {
  const user = userEvent.setup();
  tab();
  await waitFor(() => expect(screen.getByTestId<HTMLButtonElement>("add-token").disabled).toBe(false));
  await user.click(screen.getByTestId("add-token"));
  const form = await screen.findByTestId("token-form");
  await user.type(within(form).getByLabelText(/What it is for/), "sweep");
  await user.click(within(form).getByText("Selected scopes only"));
  const runs = within(form).getByLabelText("Access to runs");
  await user.click(within(runs).getByText("Write"));
  await user.click(within(form).getByRole("button", { name: "Create token" }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toMatchObject({
    path: "/tokens",
    body: { name: "sweep", role: "viewer", scopes: ["runs:write"], service_account: null },
  });
  const days = (Date.parse(String(sent[0]?.body.expires_at)) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(90);
  expect((await screen.findByTestId("secret")).textContent).toContain("drs_shown-once");
  expect(screen.queryByTestId("token-form")).toBeNull();
});

it("points out tokens that are nobody's, and gives one to a service account that is enabled", async () => {
  const user = userEvent.setup();
  tab();
  const table = await screen.findByTestId("tokens-table");
  expect(screen.getByTestId("nobodys-tokens")).toBeTruthy();
  expect(within(table).getByTestId("token-state").textContent).toBe("no owner");
  expect(table.textContent).toContain("192.0.2.7");
  await user.click(within(table).getByLabelText("Assign old to a service account"));
  const open = await screen.findByRole("menuitem", { name: "nightly, editor" });
  expect(screen.queryByRole("menuitem", { name: /asleep/ })).toBeNull();
  await user.click(open);
  await waitFor(() => expect(sent).toEqual([{ path: "/tokens/tok_1", body: { service_account: "sva_1" } }]));
});

it("disables and enables service accounts", async () => {
  const user = userEvent.setup();
  tab();
  await user.click(await screen.findByRole("button", { name: "Disable nightly" }));
  await user.click(screen.getByRole("button", { name: "Enable asleep" }));
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent).toEqual([
    { path: "/service-accounts/sva_1", body: { disabled: true } },
    { path: "/service-accounts/sva_2", body: { disabled: false } },
  ]);
});
