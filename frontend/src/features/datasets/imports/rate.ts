/** Transfer rate over the last seconds, so that it follows a changing network. */

const WINDOW_MS = 15_000;

export class Rate {
  private points: { at: number; bytes: number }[] = [];

  /** Records the bytes transferred so far. Fewer than before restart the measurement. */
  add(bytes: number, at: number): void {
    const last = this.points.at(-1);
    if (last && bytes < last.bytes) this.points = [];
    this.points.push({ at, bytes });
    while (this.points.length > 2 && (this.points[1] as { at: number }).at < at - WINDOW_MS) this.points.shift();
  }

  /** Begins again, as after a pause. */
  restart(): void {
    this.points = [];
  }

  /** Bytes per second; null until it can be told. */
  get bytesPerSecond(): number | null {
    const first = this.points[0];
    const last = this.points.at(-1);
    if (!first || !last || last.at <= first.at || last.bytes <= first.bytes) return null;
    return ((last.bytes - first.bytes) * 1000) / (last.at - first.at);
  }
}
