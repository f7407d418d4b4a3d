/** Actions on the selected rows, or on all found rows. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { RowQuery } from "@/api/model";
import { useMayEdit } from "@/entities/datasets/read-only";
import { useCan } from "@/features/session/session";
import { CopyText } from "@/ui/CopyText";
import { isEmpty } from "./query";
import type { RowChanges } from "./useRowChanges";

interface Props {
  query: RowQuery;
  /** The query leaves a filter aside that could not be read: more is found than was requested. */
  partial: boolean;
  /** Ids of the rows that are selected. */
  ids: string[];
  onClear: () => void;
  changes: RowChanges;
}

export function TakeRows({ query, partial, ids, onClear, changes }: Props) {
  const editor = useCan("editor");
  const mayEdit = useMayEdit();
  const [opened, { open, close }] = useDisclosure(false);
  const [name, setName] = useState("");
  const some = ids.length > 0;
  if (!some && (partial || isEmpty(query))) return null;
  const what = some ? `${ids.length.toLocaleString("en-GB")} selected` : "Found rows";
  return (
    <Group gap="xs" role="group" aria-label={what}>
      <Text size="sm">{what}:</Text>
      {editor && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            changes.reset();
            open();
          }}
        >
          Create version
        </Button>
      )}
      {some && <CopyText value={ids.join("\n")} label="Copy ids" />}
      {some && mayEdit && (
        <Button
          size="compact-sm"
          variant="default"
          color="red"
          loading={changes.pending}
          onClick={() => changes.remove(ids)}
        >
          Remove
        </Button>
      )}
      {some && (
        <Button size="compact-sm" variant="subtle" onClick={onClear}>
          Clear selection
        </Button>
      )}
      <Modal opened={opened} onClose={close} title={some ? "Version of these rows" : "Version of the found rows"}>
        <Stack gap="sm">
          <TextInput
            label="New dataset name"
            description={mayEdit ? "Without a name, the rows become the next version of this dataset." : undefined}
            required={!mayEdit}
            value={name}
            maxLength={120}
            onChange={event => setName(event.currentTarget.value)}
          />
          {changes.error && (
            <Alert color="red" role="alert">
              {changes.error}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button
              loading={changes.pending}
              disabled={!mayEdit && !name.trim()}
              variant="default"
              onClick={() => changes.take(some ? { ids } : query, name, "run")}
            >
              Create and use in a new run
            </Button>
            <Button
              loading={changes.pending}
              disabled={!mayEdit && !name.trim()}
              onClick={() => changes.take(some ? { ids } : query, name, "open")}
            >
              Create
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Group>
  );
}
