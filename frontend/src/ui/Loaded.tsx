import type { ReactNode } from "react";
import { ErrorState, isNotThere, NotFoundPage } from "./ErrorState";
import { TableSkeleton } from "./TableSkeleton";

interface Props<T> {
  query: { data: T | undefined; isError: boolean; error: unknown; refetch: () => unknown };
  /** Nothing but this is on the page: where it does not exist, neither does the page. */
  page?: boolean;
  /** Of the height that the contents will have. */
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
}

/** A skeleton until the data comes. Where asking again fails, the error is above what is known, which stays. */
export function Loaded<T>({ query, page = false, skeleton = <TableSkeleton />, children }: Props<T>) {
  if (page && isNotThere(query.error)) return <NotFoundPage />;
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
