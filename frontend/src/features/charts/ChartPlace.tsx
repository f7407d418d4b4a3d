/** The place of a chart before there is one, so that nothing jumps when it comes. */
import { Skeleton } from "@mantine/core";
import { CARD_FRAME, usePlotHeight } from "./usePlotHeight";

/** @param isAwaited whether it is on its way; where nobody looks, only the place is kept. */
export function ChartPlace({ isAwaited }: { isAwaited: boolean }) {
  const height = usePlotHeight() + CARD_FRAME;
  return isAwaited ? <Skeleton height={height} radius="sm" /> : <div style={{ height }} />;
}
