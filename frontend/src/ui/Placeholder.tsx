import { Skeleton } from "@mantine/core";

/** What stands in the place of something on its way, so that nothing jumps when it comes. It says so to all readers. */
export const Placeholder = ({ height }: { height: number }) => (
  <Skeleton height={height} role="progressbar" aria-label="Loading" />
);
