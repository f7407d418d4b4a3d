import { expect, it } from "vitest";
import type { DatasetCard } from "@/api/model";
import { keptText, missingFacts, ownerText } from "./card-text";

const CARD: DatasetCard = {
  source: "",
  licence: "",
  licence_is_spdx: false,
  purpose: "",
  caveats: "",
  owner: null,
  keep_days: null,
  last_owner: "",
  revision: 0,
  updated_at: null,
  updated_by: "",
};

it("names the owner, or the last one", () => {
  const owner = { id: "mem_1", email: "mia@example.com", name: "Mia" };
  expect(ownerText({ ...CARD, owner })).toBe("Mia (mia@example.com)");
  expect(ownerText({ ...CARD, owner: { ...owner, name: "" } })).toBe("mia@example.com");
  expect(ownerText({ ...CARD, last_owner: "mia@example.com" })).toBe("none (last: mia@example.com)");
  expect(ownerText(CARD)).toBe("none");
});

it("tells how long replaced versions are kept", () => {
  expect(keptText(CARD)).toBe("kept indefinitely");
  expect(keptText({ keep_days: 1 })).toBe("kept for a day, longer if a run has read them");
  expect(keptText({ keep_days: 30 })).toBe("kept for 30 days, longer if a run has read them");
});

it("tells what nobody has said", () => {
  expect(missingFacts(CARD)).toEqual(["source", "licence", "purpose", "owner"]);
  expect(missingFacts({ ...CARD, licence: "MIT", purpose: "Sums." })).toEqual(["source", "owner"]);
});
