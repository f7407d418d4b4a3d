import type { ReactNode } from "react";
import { ErrorState } from "./ErrorState";
import { TableSkeleton } from "./TableSkeleton";

interface Props<T> {
  query: { data: T | undefined; isError: boolean; error: unknown; refetch: () => unknown };
  /** Of the height that the contents will have. */
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
}

/** A skeleton until the data comes. Where asking again fails, the error stands above what is known, which stays. */
export function Loaded<T>({ query, skeleton = <TableSkeleton />, children }: Props<T>) {
  return (
    <>
      {query.isError && (
        <div style={{ marginBottom: 12 }}>
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        </div>
      )}
      {query.data !== undefined ? children(query.data) : !query.isError && skeleton}
    </>
  );
}
