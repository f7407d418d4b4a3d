import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import type { Passkey, SecondFactors } from "@/api/model";
import { renderWith } from "@/test/render";
import { SecondFactor } from "./SecondFactor";

const phone: Passkey = { id: "psk_1", name: "Phone", created_at: "2026-11-22T12:00:00Z", last_used_at: null };
const CODES = Array.from({ length: 10 }, (_, index) => `aaaa-bbbb-cccc-ddd${index}`);
const NONE: SecondFactors = {
  totp_since: null,
  passkeys: 0,
  passkey_origin: null,
  recovery_codes: 0,
  required: false,
};
let own: SecondFactors;
let asked: [string, unknown][];
let passkeys: Passkey[];

const answer = (body: unknown, status = 200) =>
  Promise.resolve(
    new Response(body === undefined ? null : JSON.stringify(body), {
      status,
      headers: { "content-type": status < 300 ? "application/json" : "application/problem+json" },
    }),
  );

beforeEach(() => {
  own = NONE;
  asked = [];
  passkeys = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    if (init.method !== "POST") return answer(url.endsWith("/second-factors") ? own : { data: passkeys });
    const body = JSON.parse(String(init.body)) as { code?: string };
    asked.push([url.replace("/api/v1/account/", ""), body]);
    if (url.endsWith("/totp")) return answer({ secret: "JBSWY3DP", uri: "otpauth://totp/x", qr: "<svg/>" });
    if (url.endsWith("/passkeys/options")) return answer({ options: { challenge: "abc" } });
    if (url.endsWith("/passkeys")) return answer({ passkey: phone, recovery_codes: CODES }, 201);
    if (body.code === "000000") {
      const fault = { pointer: "/code", detail: "The code is wrong, or was used before." };
      return answer({ status: 422, detail: fault.detail, errors: [fault] }, 422);
    }
    if (url.endsWith("/disable") || url.endsWith("/remove")) {
      own = NONE;
      passkeys = [];
      return answer(undefined, 204);
    }
    own = { ...NONE, totp_since: "2026-11-22T12:00:00Z", recovery_codes: 10 };
    return answer({ recovery_codes: CODES });
  });
});

it("sets up an app, and shows the recovery codes once", async () => {
  renderWith(<SecondFactor />);
  await userEvent.type(await screen.findByLabelText("Your password, to set up an app"), "secret");
  await userEvent.click(screen.getByRole("button", { name: "Set up an authenticator app" }));
  expect((await screen.findByAltText("QR code of the key")).getAttribute("src")).toContain("%3Csvg%2F%3E");
  expect(screen.getByText("JBSWY3DP")).toBeTruthy();
  await userEvent.type(screen.getByLabelText(/Code/), "000000");
  await userEvent.click(screen.getByRole("button", { name: "Turn on" }));
  expect(await screen.findByText("The code is wrong, or was used before.")).toBeTruthy();
  await userEvent.clear(screen.getByLabelText(/Code/));
  await userEvent.type(screen.getByLabelText(/Code/), "123456");
  await userEvent.click(screen.getByRole("button", { name: "Turn on" }));
  for (const code of CODES) expect(await screen.findByText(code)).toBeTruthy();
  expect(await screen.findByText(/10 recovery codes left/)).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Hide permanently" }));
  expect(screen.queryByText("aaaa-bbbb-cccc-ddd0")).toBeNull();
  expect(asked[0]).toEqual(["totp", { current: "secret" }]);
});

it("turns the app off with password and code", async () => {
  own = { ...NONE, totp_since: "2026-11-22T12:00:00Z", recovery_codes: 9 };
  renderWith(<SecondFactor />);
  await userEvent.click(await screen.findByRole("button", { name: "Turn off" }));
  await userEvent.type(screen.getByLabelText("Current password"), "secret");
  await userEvent.type(screen.getByLabelText(/Code/), "123456");
  await userEvent.click(screen.getByRole("button", { name: "Turn off app" }));
  await waitFor(() => expect(screen.getByLabelText("Your password, to set up an app")).toBeTruthy());
  expect(asked).toEqual([["totp/disable", { current: "secret", code: "123456" }]]);
});

it("adds a passkey that the browser makes", async () => {
  own = { ...NONE, passkey_origin: window.location.origin };
  class Made {
    static parseCreationOptionsFromJSON = (options: unknown) => options;
    static parseRequestOptionsFromJSON = (options: unknown) => options;
    toJSON = () => ({ id: "made" });
  }
  vi.stubGlobal("PublicKeyCredential", Made);
  Object.defineProperty(navigator, "credentials", {
    configurable: true,
    value: { create: () => Promise.resolve(new Made()) },
  });
  renderWith(<SecondFactor />);
  await userEvent.click(await screen.findByRole("button", { name: "Add a passkey" }));
  await userEvent.type(screen.getByLabelText("Device name"), "Phone");
  await userEvent.type(screen.getByLabelText("Current password"), "secret");
  await userEvent.click(screen.getByRole("button", { name: "Continue" }));
  expect(await screen.findByText("aaaa-bbbb-cccc-ddd0")).toBeTruthy();
  expect(asked).toEqual([
    ["passkeys/options", { current: "secret", code: "" }],
    ["passkeys", { name: "Phone", credential: { id: "made" } }],
  ]);
});

it("says where passkeys work, and removes one", async () => {
  own = { ...NONE, passkeys: 1, passkey_origin: "https://dressage.example.com" };
  passkeys = [phone];
  renderWith(<SecondFactor />);
  expect(await screen.findByText(/This browser does not support passkeys|Passkeys work at https/)).toBeTruthy();
  await userEvent.click(await screen.findByRole("button", { name: "Remove Phone" }));
  await userEvent.type(screen.getByLabelText("Current password"), "secret");
  await userEvent.type(screen.getByLabelText(/Code/), "123456");
  await userEvent.click(screen.getByRole("button", { name: "Remove passkey" }));
  await waitFor(() => expect(screen.queryByText("Phone")).toBeNull());
  expect(asked).toEqual([["passkeys/psk_1/remove", { current: "secret", code: "123456" }]]);
});
