import { expect, it } from "vitest";
import type { RubricProposal } from "@/api/model";
import { editsOf, startEdit } from "./edit";

const PROPOSAL = { name: "cites", description: "Cites its source.", weight: 2 } as RubricProposal;

it("sends nothing of an item that is accepted as it is", () => {
  expect(editsOf(PROPOSAL, null)).toEqual({});
  expect(editsOf(PROPOSAL, startEdit(PROPOSAL))).toEqual({});
});

it("sends what a person changed, and no weight that is still being typed", () => {
  expect(editsOf(PROPOSAL, { name: "cites", description: "Cites a primary source. ", weight: 3 })).toEqual({
    description: "Cites a primary source.",
    weight: 3,
  });
  expect(editsOf(PROPOSAL, { ...startEdit(PROPOSAL), weight: "1e" })).toEqual({});
});
