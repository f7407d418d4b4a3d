import { expect, it } from "vitest";
import { stateText } from "./SharePanel";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const OFFER = { accepted_at: null, expires_at: "2026-11-24T12:00:00Z", note: "" };

it("tells how far a share has come", () => {
  expect(stateText(OFFER, NOW)).toContain("not accepted yet");
  expect(stateText({ ...OFFER, expires_at: "2026-11-23T12:00:00Z" }, NOW)).toBe("expired: offer it again");
  expect(stateText({ ...OFFER, accepted_at: "2026-11-23T11:00:00Z", note: "for them" }, NOW)).toMatch(
    /^can read since .*, for them$/,
  );
});
