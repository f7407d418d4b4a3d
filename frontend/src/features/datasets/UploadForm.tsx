/** Upload with the faults of the file shown by their line numbers; nothing is made when there is one. */
import { Alert, Button, Group, ScrollArea, Stack, Table, Text, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { datasets as datasetsApi } from "@/api/client";
import { Problem } from "@/api/http";
import type { Dataset } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { useSubmit } from "@/lib/useSubmit";
import { DropFile } from "@/ui/DropFile";
import { ErrorState } from "@/ui/ErrorState";

/** Faults that stand at the file, its lines, or fields. */
const AT_FIELDS = /^\/(file(\/lines\/\d+.*)?|name|slug)$/;

interface Props {
  /** Given: the file becomes its next version. */
  dataset?: Dataset;
  onDone: (id: string) => void;
}

export function UploadForm({ dataset, onDone }: Props) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const client = useQueryClient();
  const upload = useSubmit({
    mutationFn: async () => {
      if (!file) throw new Error("Choose a file first.");
      if (dataset) return datasetsApi.createVersion(dataset.id, file).then(() => dataset.id);
      return datasetsApi.create({ file, name, description }).then(made => made.id);
    },
    onSuccess: async id => {
      await client.invalidateQueries({ queryKey: ["datasets"] });
      onDone(id);
    },
  });
  const choose = (next: File | null) => {
    setFile(next);
    upload.reset();
    if (next && !name) setName(next.name.replace(/\.[^.]+$/, ""));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    upload.mutate();
  };
  const lines = lineFaults(upload.error);
  const fileFault = fieldError(upload.error, "/file");
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <DropFile
          file={file}
          onFile={choose}
          accept=".jsonl,.ndjson,.json,application/jsonl"
          hint="JSONL: each line an object with prompt (or messages) and, where the reward needs it, answer"
        />
        {fileFault && (
          <Text size="sm" c="var(--c-bad)" role="alert">
            {fileFault}
          </Text>
        )}
        {lines.length > 0 && <LineFaults lines={lines} />}
        {restError(upload.error, AT_FIELDS) !== null && <ErrorState error={upload.error} />}
        {!dataset && (
          <>
            <TextInput
              label="Name"
              value={name}
              onChange={event => setName(event.currentTarget.value)}
              error={fieldError(upload.error, "/name") ?? fieldError(upload.error, "/slug")}
              required
            />
            <Textarea
              label="Description"
              value={description}
              onChange={event => setDescription(event.currentTarget.value)}
              autosize
              minRows={2}
            />
          </>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={upload.isPending} disabled={!file || (!dataset && !name.trim())}>
            {dataset ? `Upload version ${(dataset.latest_version?.number ?? 0) + 1}` : "Upload"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface LineFault {
  line: number;
  detail: string;
}

/** Faults with pointers such as `/file/lines/17`. */
export function lineFaults(error: unknown): LineFault[] {
  if (!(error instanceof Problem)) return [];
  return error.errors.flatMap(({ pointer, detail }) => {
    const match = /^\/file\/lines\/(\d+)/.exec(pointer);
    return match ? [{ line: Number(match[1]), detail }] : [];
  });
}

function LineFaults({ lines }: { lines: LineFault[] }) {
  return (
    <Alert
      color="red"
      p="xs"
      role="alert"
      title={`${lines.length === 1 ? "One line is" : `${lines.length} lines are`} not as they should be. Nothing was stored.`}
      data-testid="line-faults"
    >
      <ScrollArea.Autosize mah={220}>
        <Table verticalSpacing={3} horizontalSpacing={8} fz="xs">
          <Table.Tbody>
            {lines.map(({ line, detail }) => (
              <Table.Tr key={`${line}-${detail}`}>
                <Table.Td w={70} style={{ whiteSpace: "nowrap" }}>
                  line {line}
                </Table.Td>
                <Table.Td>{detail}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </Alert>
  );
}
