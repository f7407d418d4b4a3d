/** The first rows of what was fetched, and what they are read by, before anything is stored. */
import { Alert, Button, Group, Stack } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import type { DatasetImport } from "@/api/model";
import { restError } from "@/api/problems";
import { FilePreview } from "@/features/datasets/mapping/FilePreview";
import { askable, type Reading } from "@/features/datasets/mapping/use-preview";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { importsQuery } from "./queries";

export function ImportReading({ row, onDone }: { row: DatasetImport; onDone: () => void }) {
  const [reading, setReading] = useState<Reading>({});
  const [settled] = useDebouncedValue(askable(reading), 350);
  const client = useQueryClient();
  const preview = useQuery({
    queryKey: ["dataset-import-preview", row.id, settled],
    queryFn: ({ signal }) => api.previewDatasetImport(row.id, bodyOf(settled), { signal }),
    placeholderData: before => before,
    retry: false,
    staleTime: 60_000,
  });
  const read = useSubmit({
    mutationFn: () => {
      const proposed = preview.data?.by === "proposal" ? (preview.data.mapping ?? undefined) : undefined;
      return api.readDatasetImport(
        row.id,
        bodyOf(reading.mapping || reading.mappingId ? reading : { mapping: proposed }),
      );
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: importsQuery.queryKey });
      onDone();
    },
  });
  const known = preview.data !== undefined && preview.data.by !== null;
  return (
    <Stack gap="sm" data-testid="import-reading">
      {row.state === "failed" && (
        <Alert color="red" p="xs" title="Rows rejected">
          {row.error}
        </Alert>
      )}
      <FilePreview query={preview} reading={reading} onReading={setReading} />
      {restError(read.error, []) !== null && <ErrorState error={read.error} />}
      <Group justify="flex-end">
        <Button onClick={() => read.mutate()} loading={read.isPending} disabled={!known || preview.isError}>
          Import rows
        </Button>
      </Group>
    </Stack>
  );
}

const bodyOf = ({ mapping, mappingId }: Reading) => ({ mapping: mapping ?? null, mapping_id: mappingId ?? null });
