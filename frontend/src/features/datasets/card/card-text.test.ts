import { expect, it } from "vitest";
import type { DatasetCard } from "@/api/model";
import { missingFacts, ownerText } from "./card-text";

const CARD: DatasetCard = {
  source: "",
  licence: "",
  licence_is_spdx: false,
  purpose: "",
  caveats: "",
  owner: null,
  last_owner: "",
  revision: 0,
  updated_at: null,
  updated_by: "",
};

it("names the owner, or the last one", () => {
  const owner = { id: "mem_1", email: "mia@example.com", name: "Mia" };
  expect(ownerText({ ...CARD, owner })).toBe("Mia (mia@example.com)");
  expect(ownerText({ ...CARD, owner: { ...owner, name: "" } })).toBe("mia@example.com");
  expect(ownerText({ ...CARD, last_owner: "mia@example.com" })).toBe("none, last was mia@example.com");
  expect(ownerText(CARD)).toBe("none");
});

it("tells what nobody has said", () => {
  expect(missingFacts(CARD)).toEqual(["source", "licence", "purpose", "owner"]);
  expect(missingFacts({ ...CARD, licence: "MIT", purpose: "Sums." })).toEqual(["source", "owner"]);
});
