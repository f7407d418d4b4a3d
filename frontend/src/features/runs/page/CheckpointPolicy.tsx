import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBrain } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { Checkpoint, Run } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";

/** Makes a base policy of a checkpoint: a copy, which stays when the checkpoint is deleted. */
export function CheckpointPolicy({ run, row }: { run: Run; row: Checkpoint }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<IconBrain size={13} />}
        onClick={open}
        data-testid="checkpoint-policy"
      >
        Register as policy
      </Button>
      <Modal opened={opened} onClose={close} title={`Register step ${row.step} as policy`}>
        <Form run={run} row={row} onDone={close} />
      </Modal>
    </>
  );
}

function Form({ run, row, onDone }: { run: Run; row: Checkpoint; onDone: () => void }) {
  const [name, setName] = useState(`${run.name} step ${row.step}`.slice(0, 120));
  const keyFor = useRequestKey();
  const client = useQueryClient();
  const make = useSubmit({
    mutationFn: () => api.registerCheckpoint(row.id, { name }, { "Idempotency-Key": keyFor(name) }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["policies"] });
      onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {restError(make.error, ["/name", "/slug"]) !== null && <ErrorState error={make.error} />}
        <Text size="sm">Copies the weights and checks each file against its hash. Runs can start from them.</Text>
        <TextInput
          label="Name"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
          error={fieldError(make.error, "/name") ?? fieldError(make.error, "/slug")}
          maxLength={120}
          required
          data-autofocus
        />
        <Group justify="flex-end">
          <Button type="submit" loading={make.isPending}>
            Register policy
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
