/** Opens the fork form with a previewed draft. Enabled once the preview of exactly this draft has arrived. */
import { Button, Group, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Problem } from "@/api/http";
import type { BatchPreview, Json, Run } from "@/api/model";
import type { BatchSearch } from "@/entities/runs/batch";
import { useCan } from "@/features/session/session";
import { type BatchDraft, batchChanges } from "./batch";

const NOTE = "batch-fork-note";

interface Props {
  run: Run;
  draft: BatchDraft;
  /** Why it cannot be forked; null if it can. */
  block: string | null;
  onDiscard: () => void;
}

export function BatchFork({ run, draft, block, onDiscard }: Props) {
  const editor = useCan("editor");
  const note = editor ? block : "Forking needs the editor role.";
  return (
    <div>
      <Group gap={6} wrap="nowrap">
        {note !== null ? (
          <Button size="xs" flex={1} disabled aria-describedby={NOTE}>
            Fork with these
          </Button>
        ) : (
          <Button
            size="xs"
            flex={1}
            renderRoot={(props: object) => (
              <Link {...props} to="/runs/new" search={{ fork: run.id, ...searchOf(run, draft) }} />
            )}
          >
            Fork with these
          </Button>
        )}
        <Button size="xs" variant="default" onClick={onDiscard}>
          Discard
        </Button>
      </Group>
      {/* One line in any case: what is below must not jump while a user types. */}
      <Text id={NOTE} size="xs" c="dimmed" mt={4} mih={18}>
        {note ?? "Opens the fork form; nothing starts yet."}
      </Text>
    </div>
  );
}

/**
 * Why no fork can be made of a draft. A preview that fails for another reason than the draft is no hindrance: the form
 * looks for itself.
 *
 * @param isAsked whether the preview is of this draft, and not of what was typed before
 */
export function blockOf(draft: BatchDraft, preview: UseQueryResult<BatchPreview>, isAsked: boolean): string | null {
  if (typeof draft.size !== "number") return "Enter a group size.";
  if (!isAsked || preview.isPending || preview.isPlaceholderData) return "Waiting for the preview.";
  const { error } = preview;
  return error instanceof Problem && error.status === 422 ? "Rejected; see above." : null;
}

function searchOf(run: Run, draft: BatchDraft): BatchSearch {
  const changed = new Map<string, Json>(
    batchChanges(run.effective_spec ?? run.spec, draft).map(({ target, value }) => [target, value]),
  );
  const size = changed.get("rollout.group_size");
  return {
    group_size: typeof size === "number" ? size : undefined,
    filters: changed.has("filters") ? draft.filters : undefined,
  };
}
