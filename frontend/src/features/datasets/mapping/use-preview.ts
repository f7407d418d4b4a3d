/** The preview of a file before it is sent: of a large one, of its beginning. */
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useDebouncedValue } from "@mantine/hooks";
import * as api from "@/api/client";
import type { DatasetMapping, DatasetPreview } from "@/api/model";
import { isComplete } from "./draft";

/** Bytes up to which a file is sent whole, as Parquet and archives need it. */
export const WHOLE_BYTES = 32 << 20;
const HEAD_BYTES = 1 << 20;

/** What the rows are read by; nothing leaves it to the platform. */
export interface Reading {
  mapping?: DatasetMapping;
  mappingId?: string;
}

/** The platform's answer to a file, asked again a moment after the mapping has changed. */
export function usePreview(file: File | null, reading: Reading): UseQueryResult<DatasetPreview> {
  const [settled] = useDebouncedValue(askable(reading), 350);
  return useQuery({
    queryKey: ["dataset-preview", file && fileKey(file), settled],
    queryFn: ({ signal }) => api.previewDataset(previewBody(file, settled), { signal }),
    enabled: file !== null,
    placeholderData: (before, query) => (file && query?.queryKey[1] === fileKey(file) ? before : undefined),
    retry: false,
    staleTime: 60_000,
    gcTime: 60_000,
  });
}

/** What an upload sends next to the file, so that it is read as the preview shows it. */
export function fieldsOf(
  reading: Reading,
  preview: DatasetPreview | undefined,
): { mapping?: string; mapping_id?: string } {
  if (reading.mapping) return { mapping: JSON.stringify(reading.mapping) };
  if (reading.mappingId) return { mapping_id: reading.mappingId };
  if (preview?.by === "saved" && preview.mapping_id) return { mapping_id: preview.mapping_id };
  if (preview?.by === "proposal" && preview.mapping) return { mapping: JSON.stringify(preview.mapping) };
  return {};
}

/** Tells files apart. */
export const fileKey = (file: File): string => `${file.name} ${file.size} ${file.lastModified}`;

/** A mapping that says nothing yet is not asked about. */
export const askable = (reading: Reading): Reading => (reading.mapping && !isComplete(reading.mapping) ? {} : reading);

function previewBody(file: File | null, { mapping, mappingId }: Reading) {
  if (!file) throw new Error("Choose a file first.");
  const whole = file.size <= WHOLE_BYTES;
  return {
    file: whole ? file : new File([file.slice(0, HEAD_BYTES)], file.name),
    whole,
    mapping: mapping && JSON.stringify(mapping),
    mapping_id: mappingId,
  };
}
