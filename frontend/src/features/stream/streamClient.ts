/**
 * One WebSocket that survives: it reconnects with back-off, resumes after the last sequence number it has seen, and
 * drops frames it has seen already. Knows nothing of React, so that tests can drive it.
 */
export type StreamStatus =
  /** For the first time; a stream that was lost stays so until it is live again. */
  "connecting" | "live" | "lost";

export interface StreamOptions {
  /** Address without the query string. */
  url: string;
  /** Called once per new frame, in order. */
  onFrame: (frame: Frame) => void;
  onStatus?: (status: StreamStatus) => void;
  /** Called for each word of a stream that has nothing to tell. */
  onPing?: () => void;
  /** Called after each opening; `resumed` says that frames follow the last one seen, so nothing was missed. */
  onOpen?: (resumed: boolean) => void;
  socket?: (url: string) => WebSocket;
  /** Back-off before the n-th attempt in a row, in milliseconds. */
  delay?: (attempt: number) => number;
  /** Silence after which a connection, or an attempt at one, counts as dead; the platform pings every 15 s. */
  silence?: number;
}

export interface Frame {
  type: string;
  seq?: number;
  [key: string]: unknown;
}

/** Two pings of the platform, and some time on the way. */
const SILENCE = 40_000;

const backoff = (attempt: number) => Math.min(15_000, 500 * 2 ** attempt) * (0.7 + 0.6 * Math.random());

export class StreamClient {
  private socket: WebSocket | null = null;
  private seq: number | null = null;
  private attempt = 0;
  private reconnectTimer: number | undefined;
  private silenceTimer: number | undefined;
  private closed = false;

  constructor(private readonly options: StreamOptions) {
    // The browser knows that there is no network long before the silence tells.
    window.addEventListener("offline", this.drop);
    window.addEventListener("online", this.retry);
    this.connect();
  }

  close(): void {
    this.closed = true;
    window.removeEventListener("offline", this.drop);
    window.removeEventListener("online", this.retry);
    window.clearTimeout(this.reconnectTimer);
    window.clearTimeout(this.silenceTimer);
    this.socket?.close();
  }

  /**
   * Gives a connection up. The browser closes it in its own time: it asks the other side first, whom nobody reaches,
   * and Chromium waits with that for frames that have come in already, so perhaps until there is a network again.
   */
  private readonly drop = (): void => {
    const socket = this.socket;
    if (socket === null) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    this.lose();
  };

  private readonly retry = (): void => {
    if (this.socket === null) this.connect();
  };

  private connect(): void {
    window.clearTimeout(this.reconnectTimer);
    if (this.closed || navigator.onLine === false) return; // `retry` comes when there is a network again
    const resumed = this.seq !== null;
    const address = resumed ? `${this.options.url}?after=${this.seq}` : this.options.url;
    const socket = (this.options.socket ?? (url => new WebSocket(url)))(address);
    this.socket = socket;
    this.listen();
    socket.onopen = () => {
      this.attempt = 0;
      this.listen();
      this.options.onStatus?.("live");
      this.options.onOpen?.(resumed);
    };
    socket.onmessage = message => {
      this.listen();
      this.receive(JSON.parse(String(message.data)) as Frame);
    };
    socket.onclose = () => {
      if (this.socket === socket) this.lose();
    };
  }

  private lose(): void {
    this.socket = null;
    window.clearTimeout(this.silenceTimer);
    if (this.closed) return;
    this.options.onStatus?.("lost");
    const wait = (this.options.delay ?? backoff)(this.attempt);
    this.attempt += 1;
    this.reconnectTimer = window.setTimeout(() => this.connect(), wait);
  }

  private receive(frame: Frame): void {
    if (frame.type === "ping") {
      this.options.onPing?.();
      return;
    }
    if (typeof frame.seq === "number") {
      if (this.seq !== null && frame.seq <= this.seq && frame.type === "events") return;
      this.seq = Math.max(this.seq ?? 0, frame.seq);
    }
    this.options.onFrame(frame);
  }

  /** (Re)starts the watch for silence. */
  private listen(): void {
    window.clearTimeout(this.silenceTimer);
    this.silenceTimer = window.setTimeout(this.drop, this.options.silence ?? SILENCE);
  }
}

export function socketUrl(path: string): string {
  const { protocol, host } = window.location;
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}${path}`;
}
