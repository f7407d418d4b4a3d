import { Anchor, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCloudUpload } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { Checkpoint, CheckpointExport, Run } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { exportsQuery } from "@/entities/runs/queries";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { TransferCard } from "@/ui/TransferCard";
import { toastError } from "@/ui/toast";
import { movedText } from "@/ui/transfer-text";

const isOpen = ({ state }: CheckpointExport) => state === "queued" || state === "running";

/** The run's open and failed exports, and the newest finished ones. */
export function CheckpointExports({ run, editor }: { run: Run; editor: boolean }) {
  const rows = useQuery(exportsQuery(run.id)).data?.data ?? [];
  const done = rows.find(row => row.state === "done");
  const shown = rows.filter(row => isOpen(row) || row.state === "failed");
  if (shown.length === 0 && done === undefined) return null;
  return (
    <Stack component="section" aria-label="Exports" gap="sm" mb="md">
      {shown.map(row => (
        <ExportCard key={row.id} row={row} editor={editor} />
      ))}
      {done && (
        <Text size="sm" data-testid="export-done" style={{ overflowWrap: "anywhere" }}>
          Step {done.step} is in <span className="mono">{done.address}</span>.
        </Text>
      )}
    </Stack>
  );
}

function ExportCard({ row, editor }: { row: CheckpointExport; editor: boolean }) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "cancel" | "retry") =>
      what === "cancel" ? api.cancelCheckpointExport(row.id) : api.retryCheckpointExport(row.id),
    onError: error => toastError("The export was not changed", error),
    onSettled: () => void client.invalidateQueries({ queryKey: exportsQuery(row.run).queryKey }),
  });
  return (
    <TransferCard
      row={row}
      name={`Export of step ${row.step}`}
      place={row.address}
      progress={movedText(row, "Sending")}
      open={isOpen(row)}
      editor={editor}
      act={act}
      testId="checkpoint-export"
    />
  );
}

/** Sends a checkpoint to an object store. */
export function ExportCheckpoint({ run, row }: { run: Run; row: Checkpoint }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<IconCloudUpload size={13} />}
        onClick={open}
        data-testid="export-checkpoint"
      >
        Export
      </Button>
      <Modal opened={opened} onClose={close} title={`Export step ${row.step}`}>
        <Form run={run} row={row} onDone={close} />
      </Modal>
    </>
  );
}

function Form({ run, row, onDone }: { run: Run; row: Checkpoint; onDone: () => void }) {
  const [address, setAddress] = useState("s3://");
  const keyFor = useRequestKey();
  const client = useQueryClient();
  const start = useSubmit({
    mutationFn: () => api.startCheckpointExport(row.id, { address }, { "Idempotency-Key": keyFor(address) }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: exportsQuery(run.id).queryKey });
      onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {restError(start.error, ["/address"]) !== null && <ErrorState error={start.error} />}
        <Text size="sm">
          Sends the Hugging Face folder to a bucket, with the team’s credentials from the page{" "}
          <Anchor component={Link} to="/policies">
            Policies
          </Anchor>
          . Resumes automatically after a lost connection.
        </Text>
        <TextInput
          label="Empty folder in a bucket"
          placeholder="s3://bucket/folder"
          value={address}
          onChange={event => setAddress(event.currentTarget.value)}
          error={fieldError(start.error, "/address")}
          maxLength={1000}
          required
          data-autofocus
        />
        <Group justify="flex-end">
          <Button type="submit" loading={start.isPending}>
            Export
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
