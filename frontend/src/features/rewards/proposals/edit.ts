/** What a person changes of a proposed item before it enters the rubric. */
import type { Json, RubricProposal } from "@/api/model";

export interface ItemEdit {
  name: string;
  description: string;
  weight: Json;
}

export function startEdit({ name, description, weight }: RubricProposal): ItemEdit {
  return { name, description, weight };
}

/** Only what differs, so that the record shows what a person changed. */
export function editsOf(
  proposal: RubricProposal,
  edit: ItemEdit | null,
): { name?: string; description?: string; weight?: number } {
  if (!edit) return {};
  const name = edit.name.trim();
  const description = edit.description.trim();
  return {
    ...(name === proposal.name ? {} : { name }),
    ...(description === proposal.description ? {} : { description }),
    ...(typeof edit.weight !== "number" || edit.weight === proposal.weight ? {} : { weight: edit.weight }),
  };
}
