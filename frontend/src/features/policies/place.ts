import type { Policy } from "@/api/model";

/** Where a policy came from, short. */
export function placeOf({ origin, checkpoint }: Pick<Policy, "origin" | "checkpoint">): string {
  if (origin) return origin.commit ? `${origin.location} @ ${origin.commit.slice(0, 8)}` : origin.location;
  return checkpoint === null ? "a folder" : "a checkpoint";
}
