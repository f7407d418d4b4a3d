/** Imports in progress, with how far each has come, and those that have failed, with what to do. */
import { Stack } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import * as api from "@/api/client";
import type { PolicyImport } from "@/api/model";
import { TransferCard } from "@/ui/TransferCard";
import { toastError } from "@/ui/toast";
import { isOpen, progressText, shown } from "@/entities/policies/imports";
import { importsQuery } from "@/entities/policies/queries";

export function Imports({ editor }: { editor: boolean }) {
  const rows = useQuery(importsQuery).data?.data ?? [];
  const client = useQueryClient();
  const ready = rows.filter(row => row.state === "ready").length;
  useEffect(() => {
    if (ready > 0) void client.invalidateQueries({ queryKey: ["policies"], exact: true });
  }, [client, ready]);
  const found = shown(rows);
  if (found.length === 0) return null;
  return (
    <Stack component="section" aria-label="Imports" gap="sm" mb="md">
      {found.map(row => (
        <ImportCard key={row.id} row={row} editor={editor} />
      ))}
    </Stack>
  );
}

export function ImportCard({ row, editor }: { row: PolicyImport; editor: boolean }) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "cancel" | "retry") =>
      what === "cancel" ? api.cancelPolicyImport(row.id) : api.retryPolicyImport(row.id),
    onError: error => toastError("The import was not changed", error),
    onSettled: () => void client.invalidateQueries({ queryKey: ["policy-imports"] }),
  });
  const revision = row.commit.slice(0, 8) || row.revision;
  return (
    <TransferCard
      row={row}
      name={row.name}
      place={revision === "" ? row.location : `${row.location} @ ${revision}`}
      progress={progressText(row)}
      open={isOpen(row)}
      editor={editor}
      act={act}
      testId="policy-import"
    />
  );
}
