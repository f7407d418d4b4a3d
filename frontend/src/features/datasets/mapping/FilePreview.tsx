/** A file before it is uploaded: its format, how it would be read, and its first rows; the mapping opens from here. */
import { Alert, Button, Group, Loader, NativeSelect, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import { errorText, Problem } from "@/api/http";
import type { DatasetMapping, DatasetPreview } from "@/api/model";
import { MappingEditor } from "./MappingEditor";
import { PreviewRows } from "./PreviewRows";
import { NOTHING } from "./draft";
import type { Reading } from "./use-preview";

const FORMATS = {
  jsonl: "JSON Lines",
  json: "JSON",
  csv: "CSV",
  tsv: "TSV",
  parquet: "Parquet",
  kattis: "Archive of Kattis problems",
  harbor: "Archive of Harbor tasks",
} as const;

interface Props {
  /** Of one file: with another, the component is another. */
  query: UseQueryResult<DatasetPreview>;
  reading: Reading;
  onReading: (reading: Reading) => void;
}

export function FilePreview({ query, reading, onReading }: Props) {
  const [preview, setPreview] = useState(query.data);
  // While a mapping is refused, the columns stay.
  if (query.data && query.data !== preview) setPreview(query.data);
  const refused =
    query.error instanceof Problem && query.error.errors.some(one => /^\/mapping(\/|$)/.test(one.pointer));
  if (query.isError && !refused && !preview) return <NoPreview error={query.error} />;
  if (!preview)
    return (
      <Group gap="xs" aria-busy="true">
        <Loader size="xs" />
        <Text size="sm" c="dimmed">
          Reading the first rows.
        </Text>
      </Group>
    );
  const shown = reading.mapping ?? (preview.by === "proposal" ? preview.proposal?.mapping : undefined);
  const mapping = shown ?? (preview.by === null ? NOTHING : undefined);
  return (
    <Stack gap="sm" data-testid="file-preview">
      <HowItIsRead preview={preview} reading={reading} onReading={onReading} open={mapping !== undefined} />
      {mapping && (
        <MappingEditor
          preview={preview}
          mapping={mapping}
          onChange={next => onReading({ mapping: next })}
          error={query.error}
        />
      )}
      {query.isError && !refused && <NoPreview error={query.error} />}
      {preview.faulty > 0 && <Faults preview={preview} />}
      <Text size="sm" fw={550}>
        {preview.by === null ? "First rows of the file" : "First rows as the policy sees them"}
      </Text>
      <PreviewRows preview={preview} />
    </Stack>
  );
}

function HowItIsRead({
  preview,
  reading,
  onReading,
  open,
}: Omit<Props, "query"> & { preview: DatasetPreview; open: boolean }) {
  const packed = preview.packing ? `, compressed with ${preview.packing === "zstd" ? "Zstandard" : "gzip"}` : "";
  const saved = [...preview.saved];
  return (
    <Group justify="space-between" gap="xs" align="flex-end">
      <Text size="sm">
        {FORMATS[preview.format]}
        {packed}. {how(preview)}
      </Text>
      <Group gap="xs" align="flex-end">
        {saved.length > 0 && (
          <NativeSelect
            size="xs"
            aria-label="Saved mapping"
            data={[
              { value: "", label: "Use a saved mapping" },
              ...saved.map(one => ({ value: one.id, label: one.name })),
            ]}
            value={reading.mappingId ?? (preview.by === "saved" ? (preview.mapping_id ?? "") : "")}
            onChange={event => onReading(event.currentTarget.value ? { mappingId: event.currentTarget.value } : {})}
          />
        )}
        {!open && (
          <Button size="xs" variant="default" onClick={() => onReading({ mapping: start(preview) })}>
            Map columns
          </Button>
        )}
        {reading.mapping && preview.shape && (
          <Button size="xs" variant="default" onClick={() => onReading({})}>
            Read as {preview.shape.title}
          </Button>
        )}
      </Group>
    </Group>
  );
}

/** The mapping that a person starts with: what the rows are read by now, else what is proposed. */
const start = (preview: DatasetPreview): DatasetMapping => preview.mapping ?? preview.proposal?.mapping ?? NOTHING;

function how(preview: DatasetPreview): string {
  const name = preview.saved.find(one => one.id === preview.mapping_id)?.name;
  switch (preview.by) {
    case "shape":
      return `Recognised as ${preview.shape?.title}.`;
    case "saved":
      return `The columns match the mapping ${name}, which is used.`;
    case "proposal":
      return "Unknown format: check the proposed mapping.";
    case "given":
      return name ? `Read with the mapping ${name}.` : "Read with the mapping below.";
    case null:
      return "Unknown format: map its columns.";
  }
}

function Faults({ preview }: { preview: DatasetPreview }) {
  const { faulty, examined, faults, unit } = preview;
  return (
    <Alert
      color="red"
      p="xs"
      title={`${faulty} of the first ${examined} rows cannot be read`}
      data-testid="preview-faults"
    >
      {faults.slice(0, 5).map(({ number, detail }) => (
        <Text key={number} size="sm">
          {unit} {number}: {detail}
        </Text>
      ))}
    </Alert>
  );
}

function NoPreview({ error }: { error: unknown }) {
  return (
    <Alert color="yellow" p="xs" title="No preview">
      <Text size="sm">{errorText(error)}</Text>
    </Alert>
  );
}
