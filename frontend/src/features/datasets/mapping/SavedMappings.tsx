/** The team's saved mappings: rename or delete them. */
import { ActionIcon, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import { errorText } from "@/api/http";
import type { SavedMapping } from "@/api/model";
import { mappingsQuery } from "@/entities/datasets/queries";
import { formatAgo } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { Loaded } from "@/ui/Loaded";
import { toastError } from "@/ui/toast";

export function SavedMappings() {
  const mappings = useQuery(mappingsQuery);
  return (
    <Loaded query={mappings}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm" c="dimmed">
            No saved mappings. Save one when you map a file; it is offered for files with the same columns.
          </Text>
        ) : (
          <Stack gap="xs">
            {data.map(saved => (
              <OneMapping key={saved.id} saved={saved} />
            ))}
          </Stack>
        )
      }
    </Loaded>
  );
}

function OneMapping({ saved }: { saved: SavedMapping }) {
  const [name, setName] = useState<string | null>(null);
  const [asked, setAsked] = useState(false);
  const client = useQueryClient();
  const again = () => client.invalidateQueries({ queryKey: ["dataset-mappings"] });
  const rename = useSubmit({
    mutationFn: (next: string) => api.updateDatasetMapping(saved.id, { name: next }),
    onSuccess: async () => {
      setName(null);
      await again();
    },
  });
  const remove = useSubmit({
    mutationFn: () => api.deleteDatasetMapping(saved.id),
    onSuccess: again,
    onError: error => toastError("The mapping was not deleted", error),
  });
  if (name !== null)
    return (
      <form
        onSubmit={event => {
          event.preventDefault();
          rename.mutate(name);
        }}
      >
        <Group gap="xs" align="flex-start">
          <TextInput
            style={{ flex: 1 }}
            aria-label="Mapping name"
            value={name}
            maxLength={120}
            error={rename.error && errorText(rename.error)}
            onChange={event => setName(event.currentTarget.value)}
          />
          <Button type="submit" disabled={!name.trim()} loading={rename.isPending}>
            Rename
          </Button>
          <Button variant="default" onClick={() => setName(null)}>
            Cancel
          </Button>
        </Group>
      </form>
    );
  return (
    <Group justify="space-between" wrap="nowrap" gap="xs">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" fw={550} truncate>
          {saved.name}
        </Text>
        <Text size="xs" c="dimmed" lineClamp={2}>
          For {saved.columns.join(", ")}. By {saved.created_by}, {formatAgo(saved.created_at)}.
        </Text>
      </div>
      {asked ? (
        <Group gap="xs" wrap="nowrap">
          <Button size="xs" color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
          <Button size="xs" variant="default" onClick={() => setAsked(false)}>
            Cancel
          </Button>
        </Group>
      ) : (
        <Group gap={4} wrap="nowrap">
          <ActionIcon variant="subtle" aria-label={`Rename ${saved.name}`} onClick={() => setName(saved.name)}>
            <IconPencil size={16} />
          </ActionIcon>
          <ActionIcon variant="subtle" color="red" aria-label={`Delete ${saved.name}`} onClick={() => setAsked(true)}>
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      )}
    </Group>
  );
}
