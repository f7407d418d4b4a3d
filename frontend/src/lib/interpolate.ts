/** y at `x` by linear interpolation between known points; null outside of them. */
export function interpolate(xs: number[], ys: (number | null)[], x: number): number | null {
  if (xs.length === 0) return null;
  let low = 0;
  let high = xs.length - 1;
  if (x < (xs[low] as number) || x > (xs[high] as number)) return null;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((xs[middle] as number) <= x) low = middle;
    else high = middle;
  }
  const [x0, x1, y0, y1] = [xs[low], xs[high], ys[low], ys[high]] as [number, number, number | null, number | null];
  if (y0 === null || y1 === null) return y0 ?? y1;
  return x1 === x0 ? y0 : y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
}
