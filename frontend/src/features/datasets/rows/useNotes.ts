/** What operations have found about the rows of a version. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { notesQuery, WITH_NOTES } from "@/entities/datasets/queries";

/** The notes of a version. If they change, the rows that show them are refetched. */
export function useNotes(datasetId: string, version: number) {
  const client = useQueryClient();
  const notes = useQuery({ ...notesQuery(datasetId, version), staleTime: 0 });
  const before = useRef(notes.data);
  useEffect(() => {
    if (notes.data === before.current) return;
    const first = before.current === undefined;
    before.current = notes.data;
    if (first) return; // the rows were requested with them
    for (const kind of WITH_NOTES) void client.invalidateQueries({ queryKey: ["datasets", datasetId, kind, version] });
  }, [client, datasetId, version, notes.data]);
  return notes;
}
