/** Imports in progress, waiting for a mapping, or failed, with their actions. */
import { Button, Modal, Stack } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import * as api from "@/api/client";
import type { DatasetImport } from "@/api/model";
import { ErrorState } from "@/ui/ErrorState";
import { TransferCard } from "@/ui/TransferCard";
import { toastError } from "@/ui/toast";
import { ImportReading } from "./ImportReading";
import { isOpen, placeText, progressText, shown } from "./import-text";
import { importsQuery } from "./queries";

interface Props {
  editor: boolean;
  /** If given, only imports that become versions of this dataset. */
  dataset?: string;
}

export function ImportList({ editor, dataset }: Props) {
  const imports = useQuery(importsQuery);
  const rows = (imports.data?.data ?? []).filter(row => dataset === undefined || row.dataset === dataset);
  const client = useQueryClient();
  const [reading, setReading] = useState<string | null>(null);
  const ready = rows.filter(row => row.state === "ready").length;
  useEffect(() => {
    if (ready > 0) void client.invalidateQueries({ queryKey: ["datasets"] });
  }, [client, ready]);
  if (imports.isError) return <ErrorState error={imports.error} retry={() => void imports.refetch()} />;
  const found = shown(rows);
  if (found.length === 0) return null;
  const read = found.find(row => row.id === reading && row.has_files);
  return (
    <Stack component="section" aria-label="Imports" gap="sm" mb="md">
      {found.map(row => (
        <ImportCard key={row.id} row={row} editor={editor} onRead={() => setReading(row.id)} />
      ))}
      <Modal opened={read !== undefined} onClose={() => setReading(null)} title={read?.name} size="xl">
        {read && <ImportReading row={read} onDone={() => setReading(null)} />}
      </Modal>
    </Stack>
  );
}

interface CardProps {
  row: DatasetImport;
  editor: boolean;
  onRead: () => void;
}

export function ImportCard({ row, editor, onRead }: CardProps) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "cancel" | "retry") =>
      what === "cancel" ? api.cancelDatasetImport(row.id) : api.retryDatasetImport(row.id),
    onError: error => toastError("The import was not changed", error),
    onSettled: () => void client.invalidateQueries({ queryKey: importsQuery.queryKey }),
  });
  return (
    <TransferCard
      row={row}
      name={row.name}
      place={placeText(row)}
      progress={progressText(row)}
      open={isOpen(row)}
      editor={editor}
      act={act}
      buttons={
        row.has_files && (
          <Button size="compact-sm" variant={row.state === "waiting" ? "filled" : "default"} onClick={onRead}>
            Review rows
          </Button>
        )
      }
      details={row.faults > 1 && <FaultReport row={row} />}
      testId="dataset-import"
    />
  );
}

/** All errors as CSV, fetched on demand: there may be thousands. */
function FaultReport({ row }: { row: DatasetImport }) {
  const download = useMutation({
    mutationFn: () => api.getDatasetImportReport(row.id),
    onSuccess: ({ report }) => {
      const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
      const lines = report.map(({ place, detail }) => [place, cell(detail)].join(","));
      const url = URL.createObjectURL(new Blob([["place,fault", ...lines, ""].join("\r\n")], { type: "text/csv" }));
      const link = Object.assign(document.createElement("a"), { href: url, download: "faults.csv" });
      link.click();
      URL.revokeObjectURL(url);
    },
    onError: error => toastError("The errors could not be loaded", error),
  });
  return (
    <Button mt="xs" size="compact-xs" variant="default" loading={download.isPending} onClick={() => download.mutate()}>
      Download all {row.faults.toLocaleString("en-GB")} errors as CSV
    </Button>
  );
}
