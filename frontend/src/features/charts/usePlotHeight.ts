/** Height of a chart's picture: six cards fit on a desk's first screen, two on a phone's. */
import { useMediaQuery } from "@mantine/hooks";

const DESK = 176;
const PHONE = 112;

/** Of a card, what its picture leaves for title, legend and padding, in pixels. */
export const CARD_FRAME = 64;

export function usePlotHeight(): number {
  return useMediaQuery("(max-width: 40em)", false, { getInitialValueInEffect: false }) ? PHONE : DESK;
}
