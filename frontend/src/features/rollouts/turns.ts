/** Splits a completion into the turns of its episode. */
import type { Rollout } from "@/api/model";

export type Author = Rollout["turns"][number]["author"];

export interface TurnText {
  author: Author;
  text: string;
}

/** The turns in order. A completion of one turn is the policy's. */
export function turnsOf({ completion, turns }: Pick<Rollout, "completion" | "turns">): TurnText[] {
  if (turns.length === 0) return [{ author: "policy", text: completion }];
  const characters = Array.from(completion); // lengths count code points, as Python does
  let start = 0;
  return turns.map(({ author, characters: length }) => {
    const text = characters.slice(start, start + length).join("");
    start += length;
    return { author, text };
  });
}

export const AUTHOR_TITLES: Record<Author, string> = {
  policy: "Policy",
  tool: "Tool",
  user: "User",
  system: "System",
};
