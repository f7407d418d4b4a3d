/** Which rows of a list are in sight, also of lists that are higher than browsers let an element be. */

export const ROW_HEIGHT = 36;
/** Browsers end at 17 to 33 million pixels; beyond this, a pixel of the scroll bar stands for several of the list. */
const HIGHEST = 8_000_000;
const BEYOND = 6;

export interface RowWindow {
  /** Height of the element that scrolls. */
  height: number;
  /** Pixels of the list for one of the scroll bar. */
  scale: number;
  /** Rows to draw: from `first`, up to and without `end`. */
  first: number;
  end: number;
  /** Place of the row `first` in the element. */
  top: number;
}

/** The window at a place of the scroll bar. */
export function rowWindow(count: number, scrollTop: number, view: number): RowWindow {
  const whole = count * ROW_HEIGHT;
  const height = Math.min(whole, HIGHEST);
  const scale = whole > height ? (whole - view) / (height - view) : 1;
  const place = Math.max(0, Math.min(scrollTop * scale, whole - view));
  const first = Math.max(0, Math.floor(place / ROW_HEIGHT) - BEYOND);
  const end = Math.min(count, Math.ceil((place + view) / ROW_HEIGHT) + BEYOND);
  const top = scale === 1 ? first * ROW_HEIGHT : scrollTop + first * ROW_HEIGHT - place;
  return { height, scale, first, end, top };
}

/** The place of the scroll bar at which a row is in sight, nearest to where it is. */
export function placeOf(row: number, count: number, scrollTop: number, view: number): number {
  const { scale } = rowWindow(count, scrollTop, view);
  const place = scrollTop * scale;
  const top = row * ROW_HEIGHT;
  if (top < place) return top / scale;
  if (top + ROW_HEIGHT > place + view) return (top + ROW_HEIGHT - view) / scale;
  return scrollTop;
}
