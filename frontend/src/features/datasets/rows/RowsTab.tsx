/** The rows of a version: all or the found ones as a list, and one of them next to it. */
import { Alert, Group, Stack, Text } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import type { Dataset, DatasetVersion, FoundRow, IndexState, RowNotes } from "@/api/model";
import { ErrorState } from "@/ui/ErrorState";
import { Nothing } from "@/ui/Nothing";
import { Placeholder } from "@/ui/Placeholder";
import { toast } from "@/ui/toast";
import { FilterLine } from "./FilterLine";
import { type NoteColumn, RowList } from "./RowList";
import { RowPanel } from "./RowPanel";
import { TakeRows } from "./TakeRows";
import { VersionOrigin } from "./VersionOrigin";
import { isEmpty, type NoteTypes, type RowFilters, rowQuery, unread } from "./query";
import { useFoundRows } from "./useFoundRows";
import { useNotes } from "./useNotes";
import { useRowChanges } from "./useRowChanges";
import { rowWindow } from "./window";

const VIEW = 600; // until it is measured
/** Most ids that an operation takes. */
const MOST_SELECTED = 10_000;
const NO_NOTES: RowNotes[] = [];

export function RowsTab({ dataset, version }: { dataset: Dataset; version: DatasetVersion }) {
  const search = useSearch({ from: "/app/datasets/$datasetId" });
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const known = useNotes(dataset.id, version.number);
  const notes = known.data?.data ?? NO_NOTES;
  const types = useMemo(() => typesOf(notes), [notes]);
  const { q, answer, min, max, tags, script, notes: noted } = search;
  const query = useMemo(
    () => rowQuery({ q, answer, min, max, tags, script, notes: noted }, types),
    [q, answer, min, max, tags, script, noted, types],
  );
  const dropped = unread({ q, answer, min, max, tags, script, notes: noted }, types);
  const [place, setPlace] = useState({ scrollTop: 0, view: VIEW });
  const [guess, setGuess] = useState(version.rows);
  const [selected, setSelected] = useState<ReadonlyMap<string, number>>(new Map());
  const onScroll = useCallback((scrollTop: number, view: number) => setPlace({ scrollTop, view }), []);

  const asked = rowWindow(guess, place.scrollTop, place.view);
  const list = useFoundRows(dataset.id, version, query, asked.first, asked.end);
  if (list.count !== guess) setGuess(list.count);
  const sight = rowWindow(list.count, place.scrollTop, place.view);

  const changes = useRowChanges(dataset, version, () => setSelected(new Map()));
  // With its version, so that a newer one does not take the place of what is open.
  const show = (row: number | undefined) => {
    changes.reset();
    void navigate({ search: before => ({ ...before, version: version.number, row }), replace: true });
  };
  const change = (part: Partial<RowFilters>) => {
    setSelected(new Map());
    void navigate({ search: before => ({ ...before, ...part, row: undefined }), replace: true });
  };
  const toggle = (row: FoundRow) => {
    const next = new Map(selected);
    if (!next.delete(row.id)) {
      if (next.size >= MOST_SELECTED) return toast(`At most ${MOST_SELECTED.toLocaleString("en-GB")} can be selected.`);
      next.set(row.id, row.index);
    }
    setSelected(next);
  };

  return (
    <Stack gap="sm">
      <section aria-label="Rows">
        <Stack gap="xs">
          <FilterLine
            datasetId={dataset.id}
            version={version.number}
            filters={{ q, answer, min, max, tags, script, notes: noted }}
            notes={notes}
            onChange={change}
          />
          <Group justify="space-between" gap="xs">
            <Text size="xs" c="dimmed" className="num" role="status">
              {list.total}
              {list.index && indexText(list.index)}
            </Text>
            <TakeRows
              query={query}
              partial={dropped.length > 0}
              ids={[...selected.keys()]}
              onClear={() => setSelected(new Map())}
              changes={changes}
            />
          </Group>
          {known.isError && <ErrorState error={known.error} retry={() => void known.refetch()} />}
          {dropped.length > 0 && (
            <Alert color="yellow" p="xs" title="Some filters are invalid">
              <Text size="sm">Ignored: {dropped.join(", ")}. More rows may be shown than you asked for.</Text>
            </Alert>
          )}
          {list.error && <ErrorState error={list.error} retry={list.retry} />}
          {list.error && list.empty ? null : list.pending && !isEmpty(query) ? (
            <Placeholder height={240} />
          ) : list.count === 0 && list.complete ? (
            <Nothing>No rows found. Remove a word or a filter.</Nothing>
          ) : (
            <RowList
              key={JSON.stringify(query)}
              label={`Rows of ${version.ref}`}
              count={list.count}
              row={list.row}
              columns={columnsOf(notes)}
              window={sight}
              scrollTop={place.scrollTop}
              onScroll={onScroll}
              opened={search.row ?? null}
              onOpen={show}
              selected={selected}
              onSelect={toggle}
            />
          )}
        </Stack>
      </section>
      <VersionOrigin origin={version.origin} />
      {search.row !== undefined && (
        <RowPanel
          datasetId={dataset.id}
          version={version}
          index={search.row}
          onClose={() => show(undefined)}
          onEdit={() => show(search.row)}
          changes={changes}
        />
      )}
    </Stack>
  );
}

function columnsOf(notes: readonly RowNotes[]): NoteColumn[] {
  return notes.flatMap(({ name, columns }) =>
    columns.slice(0, 2).map(column => ({ notes: name, column: column.name })),
  );
}

function typesOf(notes: readonly RowNotes[]): NoteTypes {
  return new Map(notes.flatMap(({ name, columns }) => columns.map(one => [`${name}.${one.name}`, one.type] as const)));
}

function indexText({ state, percent }: IndexState): string {
  switch (state) {
    case "building":
      return ` · indexing, ${percent} %; until then only part of the rows is searched`;
    case "failed":
      return " · indexing failed, so searches are slower; a search after ten minutes retries";
    default:
      return "";
  }
}
