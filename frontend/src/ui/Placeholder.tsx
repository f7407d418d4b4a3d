import { Skeleton } from "@mantine/core";

/** Placeholder of loading content, so that the layout does not jump. Screen readers announce it. */
export const Placeholder = ({ height }: { height: number }) => (
  <Skeleton height={height} role="progressbar" aria-label="Loading" />
);
