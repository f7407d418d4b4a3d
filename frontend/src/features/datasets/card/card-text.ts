import type { DatasetCard } from "@/api/model";

/** Who answers for a dataset. */
export function ownerText({ owner, last_owner }: Pick<DatasetCard, "owner" | "last_owner">): string {
  if (owner) return owner.name ? `${owner.name} (${owner.email})` : owner.email;
  return last_owner ? `none (last: ${last_owner})` : "none";
}

/** How long versions are kept that a newer one has replaced. */
export function keptText({ keep_days }: Pick<DatasetCard, "keep_days">): string {
  if (keep_days === null) return "kept indefinitely";
  return `kept for ${keep_days === 1 ? "a day" : `${keep_days} days`}, longer if a run has read them`;
}

/** What a card does not say yet, in words. */
export function missingFacts(card: DatasetCard): string[] {
  const facts: [string, boolean][] = [
    ["source", card.source !== ""],
    ["licence", card.licence !== ""],
    ["purpose", card.purpose !== ""],
    ["owner", card.owner !== null],
  ];
  return facts.flatMap(([name, said]) => (said ? [] : [name]));
}

/** Licences that are offered; any other can be written. */
export const LICENCES = [
  "Apache-2.0",
  "BSD-3-Clause",
  "CC-BY-4.0",
  "CC-BY-NC-4.0",
  "CC-BY-NC-SA-4.0",
  "CC-BY-SA-4.0",
  "CC0-1.0",
  "CDLA-Permissive-2.0",
  "CDLA-Sharing-1.0",
  "GPL-3.0-only",
  "MIT",
  "ODC-By-1.0",
  "ODbL-1.0",
  "PDDL-1.0",
];
