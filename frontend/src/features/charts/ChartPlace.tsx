/** Placeholder of a chart, so that the layout does not jump. */
import { Skeleton } from "@mantine/core";
import { CARD_FRAME, usePlotHeight } from "./usePlotHeight";

/** @param isAwaited whether it is loading; otherwise only the space is reserved. */
export function ChartPlace({ isAwaited }: { isAwaited: boolean }) {
  const height = usePlotHeight() + CARD_FRAME;
  return isAwaited ? <Skeleton height={height} radius="sm" /> : <div style={{ height }} />;
}
