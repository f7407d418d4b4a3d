import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import type { UserSession } from "@/api/model";
import { renderWith } from "@/test/render";
import { Sessions } from "./Sessions";

const here: UserSession = {
  id: "ses_1",
  device: "Firefox on Linux",
  address: "20.0.0.1",
  created_at: "2026-11-22T10:00:00Z",
  last_seen_at: "2026-11-22T11:00:00Z",
  is_current: true,
};
const phone: UserSession = { ...here, id: "ses_2", device: "Safari on iPhone", is_current: false };
const ended: string[] = [];
let rows: UserSession[];

beforeEach(() => {
  ended.length = 0;
  rows = [phone, here];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    if (init.method === "DELETE") {
      ended.push(url);
      rows = [here];
      return Promise.resolve(new Response(null, { status: 204 }));
    }
    const page = { object: "list", data: rows, has_more: false, next: null };
    return Promise.resolve(
      new Response(JSON.stringify(page), { status: 200, headers: { "content-type": "application/json" } }),
    );
  });
});

it("ends another session, and offers none for this one", async () => {
  renderWith(<Sessions />);
  const end = await screen.findByRole("button", { name: "End the session of Safari on iPhone" });
  expect(screen.queryByRole("button", { name: "End the session of Firefox on Linux" })).toBeNull();
  expect(screen.getByText("current")).toBeTruthy();
  await userEvent.click(end);
  await waitFor(() => expect(screen.queryByText("Safari on iPhone")).toBeNull());
  expect(ended).toEqual(["/api/v1/account/sessions/ses_2"]);
  expect(screen.queryByRole("button", { name: "End all others" })).toBeNull();
});
