/** The dialog before a version is created: changes from the newest one, and the reason. */
import { Button, Group, Modal, ScrollArea, Stack, Text, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "@/api/client";
import type { FieldError } from "@/api/model";
import type { JsonSchema, Reward, RewardVersion, Spec } from "@/api/model";
import { ChangeList } from "@/features/schema-form/ChangeList";
import { withDefaults } from "@/features/schema-form/schema";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { toast } from "@/ui/toast";
import { definitionChanges } from "./changes";
import { definitionErrors } from "./errors";
import { forgetDraft } from "./useDraft";

interface Props {
  opened: boolean;
  onClose: () => void;
  schema: JsonSchema;
  reward: Reward;
  latest: RewardVersion | undefined;
  definition: Spec;
  draftKey: string;
  /** Faults with pointers into the definition, for the form. */
  onRefused: (errors: FieldError[]) => void;
}

export function SaveVersion({ opened, onClose, schema, reward, latest, definition, draftKey, onRefused }: Props) {
  const [note, setNote] = useState("");
  const router = useRouter();
  const navigate = useNavigate({ from: "/rewards/$rewardId" });
  const client = useQueryClient();
  const next = (latest?.number ?? 0) + 1;
  const save = useSubmit({
    mutationFn: () => api.createRewardVersion(reward.id, { note: note.trim(), definition }),
    onMutate: () => onRefused([]),
    onError: error => onRefused(definitionErrors(error)),
    onSuccess: async () => {
      forgetDraft(draftKey);
      onClose();
      await client.invalidateQueries({ queryKey: ["rewards"] });
      toast(`Version ${next} of ${reward.name} created.`);
      // The newest version is shown; a tab that was opened in the meantime stays, and so does another page.
      if (router.state.location.pathname === `/rewards/${reward.id}`) {
        void navigate({ search: previous => ({ ...previous, version: undefined }) });
      }
    },
  });
  const before = latest ? withDefaults(schema, schema, latest.definition) : undefined;
  const changes = definitionChanges(before, definition);
  return (
    <Modal opened={opened} onClose={onClose} title={`Save as version ${next}`} size="lg">
      <Stack gap="sm" component="form" onSubmit={event => (event.preventDefault(), save.mutate())}>
        <Text size="sm" c="dimmed">
          {latest ? `Changes from version ${latest.number}, the newest:` : "The first version."}
        </Text>
        <ScrollArea.Autosize mah="44vh" type="auto" data-testid="definition-diff">
          <ChangeList changes={changes} empty="No changes from the newest version." />
        </ScrollArea.Autosize>
        <Textarea
          label="Note"
          placeholder="What changed, and why"
          autosize
          minRows={2}
          maxLength={2000}
          value={note}
          onChange={event => setNote(event.currentTarget.value)}
          data-autofocus
        />
        {save.error && <ErrorState error={save.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <Button type="submit" loading={save.isPending} disabled={changes.length === 0} data-testid="confirm-save">
            Save version {next}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
