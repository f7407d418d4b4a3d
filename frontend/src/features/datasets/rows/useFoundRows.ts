/** Rows by their place in a list: of a whole version in windows at any place, of what a query finds page by page. */
import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import type { DatasetVersion, FoundRow, IndexState, RowQuery } from "@/api/model";
import { foundRowsQuery, PAGE, rowWindowQuery } from "@/entities/datasets/queries";
import { isEmpty } from "./query";

export interface FoundList {
  /** Rows of the list; more may come if it is not `complete`. */
  count: number;
  complete: boolean;
  /** How many are found, in words. */
  total: string;
  row: (place: number) => FoundRow | undefined;
  index: IndexState | undefined;
  error: Error | null;
  /** Nothing has come that could be shown. */
  empty: boolean;
  pending: boolean;
  retry: () => void;
}

/** The list, with the rows from `first` up to `end` asked for. */
export function useFoundRows(
  datasetId: string,
  version: DatasetVersion,
  query: RowQuery,
  first: number,
  end: number,
): FoundList {
  const whole = useWholeVersion(datasetId, version, isEmpty(query), first, end);
  const found = useFound(datasetId, version, query, end);
  return isEmpty(query) ? whole : found;
}

function useWholeVersion(
  datasetId: string,
  version: DatasetVersion,
  enabled: boolean,
  first: number,
  end: number,
): FoundList {
  const from = Math.floor(first / PAGE);
  const until = Math.floor(Math.max(first, Math.min(end, version.rows) - 1) / PAGE);
  const numbers = enabled ? Array.from({ length: until - from + 1 }, (_, number) => from + number) : [];
  const windows = useQueries({
    queries: numbers.map(number => rowWindowQuery(datasetId, version.number, number)),
  });
  const failed = windows.find(one => one.isError);
  return {
    count: version.rows,
    complete: true,
    total: `${version.rows.toLocaleString("en-GB")} rows`,
    row: place => windows[Math.floor(place / PAGE) - from]?.data?.data[place % PAGE],
    index: undefined,
    error: failed?.error ?? null,
    empty: windows.every(one => one.data === undefined),
    pending: windows.length > 0 && windows.every(one => one.isPending),
    retry: () => void failed?.refetch(),
  };
}

function useFound(datasetId: string, version: DatasetVersion, query: RowQuery, end: number): FoundList {
  const pages = useInfiniteQuery({
    ...foundRowsQuery(datasetId, version.number, query),
    enabled: !isEmpty(query),
  });
  const { hasNextPage, isFetching, isError, fetchNextPage } = pages;
  const rows = useMemo(() => pages.data?.pages.flatMap(page => page.data) ?? [], [pages.data]);
  const last = pages.data?.pages.at(-1);
  // Without the index each page looks at few rows: rather wait for it than ask for hundreds of pages.
  const waits = last?.index.state === "building";
  const short = hasNextPage && !isFetching && !isError && !waits && end >= rows.length;
  useEffect(() => {
    if (short) void fetchNextPage();
  }, [short, fetchNextPage]);
  const first = pages.data?.pages[0];
  const row = useCallback((place: number) => rows[place], [rows]);
  return {
    count: rows.length,
    complete: !hasNextPage,
    total: first
      ? totalText(first.total ?? 0, first.total_is === "exact", rows.length, !hasNextPage, version.rows)
      : "",
    row,
    index: first?.index,
    error: pages.error,
    empty: pages.data === undefined,
    pending: pages.isPending,
    retry: () => void pages.refetch(),
  };
}

/** How many rows are found, as far as it is known. */
export function totalText(total: number, exact: boolean, loaded: number, complete: boolean, rows: number): string {
  const of = `of ${rows.toLocaleString("en-GB")} rows`;
  if (complete) return `${loaded.toLocaleString("en-GB")} ${of}`;
  if (exact) return `${total.toLocaleString("en-GB")} ${of}`;
  return `at least ${Math.max(total, loaded).toLocaleString("en-GB")} ${of}`;
}
