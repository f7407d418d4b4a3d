/** Upload that lists the file's errors by line. Nothing is stored if there are any. */
import {
  Alert,
  Anchor,
  Button,
  Fieldset,
  Group,
  ScrollArea,
  Stack,
  Table,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import * as api from "@/api/client";
import { Problem } from "@/api/http";
import type { Dataset } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { Cancelled } from "@/features/datasets/imports/gate";
import { uploadsQuery } from "@/features/datasets/imports/queries";
import { TransferProgress } from "@/features/datasets/imports/TransferProgress";
import { UnfinishedUploads } from "@/features/datasets/imports/UnfinishedUploads";
import { useTransfer } from "@/features/datasets/imports/useTransfer";
import { FilePreview } from "@/features/datasets/mapping/FilePreview";
import { fieldsOf, fileKey, usePreview, type Reading } from "@/features/datasets/mapping/use-preview";
import { useSubmit } from "@/lib/useSubmit";
import { DropFile } from "@/ui/DropFile";
import { ErrorState } from "@/ui/ErrorState";
import styles from "./upload.module.css";

/** Faults that are at the file, its rows, or fields. */
const AT_FIELDS = /^\/(file(\/(lines|rows)\/\d+.*)?|name|slug)$/;

interface Props {
  /** Given: the file becomes its next version. */
  dataset?: Dataset;
  /** A file that was dropped before the form opened. */
  dropped?: File | null;
  onDone: (id: string) => void;
  /** Called with whether closing the form would lose something: a mapping, or an upload in progress. */
  onHolds?: (holds: boolean) => void;
}

export function UploadForm({ dataset, dropped = null, onDone, onHolds }: Props) {
  const [file, setFile] = useState<File | null>(dropped);
  const [name, setName] = useState(dropped ? nameOf(dropped) : "");
  const [reading, setReading] = useState<Reading>({});
  const [description, setDescription] = useState("");
  const client = useQueryClient();
  const sending = useTransfer();
  const preview = usePreview(file, reading);
  const upload = useSubmit({
    mutationFn: async () => {
      if (!file) throw new Error("Choose a file first.");
      const fields = fieldsOf(reading, preview.data);
      return sending.send(file, async given => {
        if (dataset) return api.createDatasetVersion(dataset.id, { ...given, ...fields }).then(() => dataset.id);
        return api.createDataset({ ...given, ...fields, name, description }).then(made => made.id);
      });
    },
    onSuccess: async id => {
      await client.invalidateQueries({ queryKey: ["datasets"] });
      if (there.current) onDone(id); // who has closed the form is elsewhere by now
    },
    onSettled: () => client.invalidateQueries({ queryKey: uploadsQuery.queryKey }),
  });
  const holds = upload.isPending || reading.mapping !== undefined;
  useEffect(() => onHolds?.(holds), [holds, onHolds]);
  const there = useRef(false);
  useEffect(() => {
    there.current = true;
    return () => {
      there.current = false;
    };
  }, []);
  const cancelled = upload.error instanceof Cancelled;
  const choose = (next: File | null) => {
    setFile(next);
    setReading({});
    upload.reset();
    if (next && !name) setName(nameOf(next));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    upload.mutate();
  };
  const rows = rowFaults(upload.error);
  const report = faultReport(upload.error);
  const fileFault = fieldError(upload.error, "/file");
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Fieldset variant="unstyled" disabled={upload.isPending}>
          <Stack gap="sm">
            <DropFile
              disabled={upload.isPending}
              file={file}
              onFile={choose}
              accept=".jsonl,.ndjson,.json,.csv,.tsv,.parquet,.gz,.zst,.zip,.tar,.tgz,application/jsonl"
              hint="JSON Lines, JSON, CSV, TSV or Parquet, optionally compressed with gzip or Zstandard, or an archive of Kattis or Harbor tasks. Known row formats are mapped automatically, others on the next screen."
            />
            {fileFault && (
              <Text size="sm" c="var(--c-bad)" role="alert">
                {fileFault}
              </Text>
            )}
            {file && (
              <FilePreview
                key={fileKey(file)}
                query={preview}
                reading={reading}
                onReading={next => {
                  setReading(next);
                  upload.reset();
                }}
              />
            )}
          </Stack>
        </Fieldset>
        {rows.length > 0 && <RowFaults rows={rows} report={report} />}
        {!upload.isPending && <UnfinishedUploads />}
        {!cancelled && restError(upload.error, AT_FIELDS) !== null && <ErrorState error={upload.error} />}
        {!dataset && (
          <Fieldset variant="unstyled" disabled={upload.isPending}>
            <Stack gap="sm">
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
            </Stack>
          </Fieldset>
        )}
        <Stack gap="sm" className={styles.send}>
          {sending.transfer && (
            <TransferProgress
              transfer={sending.transfer}
              onPause={sending.pause}
              onResume={sending.resume}
              onCancel={sending.cancel}
            />
          )}
          <Group justify="flex-end">
            <Button type="submit" loading={upload.isPending} disabled={!file || (!dataset && !name.trim())}>
              {dataset ? `Upload version ${(dataset.latest_version?.number ?? 0) + 1}` : "Upload"}
            </Button>
          </Group>
        </Stack>
      </Stack>
    </form>
  );
}

/** A name for the rows of a file: its own without its ends. */
const nameOf = (file: File) => file.name.replace(/(?:\.[A-Za-z0-9]{1,8}){1,2}$/, "") || file.name;

interface RowFault {
  /** Such as `line 17`, or `row 17` of an array. */
  place: string;
  detail: string;
}

/** Faults with pointers such as `/file/lines/17`, or `/file/rows/17`. */
export function rowFaults(error: unknown): RowFault[] {
  if (!(error instanceof Problem)) return [];
  return error.errors.flatMap(({ pointer, detail }) => {
    const match = /^\/file\/(line|row)s\/(\d+)/.exec(pointer);
    return match ? [{ place: `${match[1]} ${match[2]}`, detail }] : [];
  });
}

/** All faults, of which the answer lists the first hundred, as a table in CSV. */
export function faultReport(error: unknown): { count: number; csv: string } {
  const all = error instanceof Problem && Array.isArray(error.document.report) ? error.document.report : null;
  const faults = (all ?? (error instanceof Problem ? error.errors : [])) as {
    place?: string;
    pointer?: string;
    detail: string;
  }[];
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = faults.map(fault => {
    const [, unit = "file", number = ""] = /^\/file\/(line|row)s\/(\d+)/.exec(fault.place ?? fault.pointer ?? "") ?? [];
    return [unit, number, cell(fault.detail)].join(",");
  });
  return { count: faults.length, csv: ["unit,number,fault", ...lines, ""].join("\r\n") };
}

function RowFaults({ rows, report }: { rows: RowFault[]; report: { count: number; csv: string } }) {
  const count = Math.max(rows.length, report.count);
  return (
    <Alert
      color="red"
      p="xs"
      role="alert"
      title={`${count === 1 ? "One row is" : `${count.toLocaleString("en-GB")} rows are`} invalid. Nothing was stored.`}
      data-testid="row-faults"
    >
      <ScrollArea.Autosize mah={220}>
        <Table verticalSpacing={3} horizontalSpacing={8} fz="xs">
          <Table.Tbody>
            {rows.map(({ place, detail }) => (
              <Table.Tr key={`${place}-${detail}`}>
                <Table.Td w={70} style={{ whiteSpace: "nowrap", verticalAlign: "top" }}>
                  {place}
                </Table.Td>
                <Table.Td>{detail}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
      <Anchor size="xs" href={`data:text/csv;charset=utf-8,${encodeURIComponent(report.csv)}`} download="faults.csv">
        Download all {count.toLocaleString("en-GB")} as CSV
      </Anchor>
    </Alert>
  );
}
