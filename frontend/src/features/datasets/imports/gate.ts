/** A gate that an upload passes before each part: people close it for a while, or for good. */

/** The upload was cancelled by its user. There is nothing to report. */
export class Cancelled extends Error {
  constructor() {
    super("The upload was cancelled.");
    this.name = "Cancelled";
  }
}

export class Gate {
  private aborter = new AbortController();
  private wakers = new Set<() => void>();
  paused = false;
  cancelled = false;

  /** Ends the request under way when the gate closes. */
  get signal(): AbortSignal {
    return this.aborter.signal;
  }

  pause(): void {
    this.paused = true;
    this.aborter.abort();
    this.wake();
  }

  resume(): void {
    this.paused = false;
    this.aborter = new AbortController();
    this.wake();
  }

  cancel(): void {
    this.cancelled = true;
    this.aborter.abort();
    this.wake();
  }

  /** Resolves when the gate is open. Throws {@link Cancelled}. */
  async passed(): Promise<void> {
    while (this.paused && !this.cancelled) await this.woken();
    if (this.cancelled) throw new Cancelled();
  }

  /** Resolves after a time, or sooner when the network is back or the gate moves. */
  async wait(ms: number): Promise<void> {
    const wake = () => this.wake();
    const timer = setTimeout(wake, ms);
    window.addEventListener("online", wake);
    try {
      await this.woken();
    } finally {
      clearTimeout(timer);
      window.removeEventListener("online", wake);
    }
  }

  private woken(): Promise<void> {
    return new Promise(resolve => this.wakers.add(resolve));
  }

  private wake(): void {
    const wakers = [...this.wakers];
    this.wakers.clear();
    for (const wake of wakers) wake();
  }
}
