/** How fast bytes travel, by what came in the last while: it follows a network that changes. */

const WINDOW_MS = 15_000;

export class Rate {
  private points: { at: number; bytes: number }[] = [];

  /** Tells that so many bytes of the file have come by now. Fewer than before begin anew. */
  add(bytes: number, at: number): void {
    const last = this.points.at(-1);
    if (last && bytes < last.bytes) this.points = [];
    this.points.push({ at, bytes });
    while (this.points.length > 2 && (this.points[1] as { at: number }).at < at - WINDOW_MS) this.points.shift();
  }

  /** Begins anew, as after a pause. */
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
