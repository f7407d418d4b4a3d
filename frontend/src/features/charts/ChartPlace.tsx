/** The place of a chart before there is one, so that nothing jumps when it comes. */
import { Skeleton } from "@mantine/core";

/** Of a whole card, in pixels. */
const HEIGHT = 264;

/** @param isAwaited whether it is on its way; where nobody looks, only the place is kept. */
export function ChartPlace({ isAwaited }: { isAwaited: boolean }) {
  return isAwaited ? <Skeleton height={HEIGHT} radius="sm" /> : <div style={{ height: HEIGHT }} />;
}
