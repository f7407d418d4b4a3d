// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StreamClient, type Frame, type StreamStatus } from "./streamClient";

/** The wire end of a WebSocket, driven by the test. */
class Wire {
  static opened: Wire[] = [];
  /** As Chromium's is without a network: its end is told when there is one again. */
  isStuck = false;
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  constructor(readonly url: string) {
    Wire.opened.push(this);
  }
  close(): void {
    if (!this.isStuck) this.onclose?.();
  }
  send(frame: Frame): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}

const wire = (index: number) => Wire.opened[index] as Wire;
let frames: Frame[];
let statuses: StreamStatus[];
let resumed: boolean[];
let pings: number;
let clients: StreamClient[] = [];

function open(): StreamClient {
  const client = new StreamClient({
    url: "ws://host/ws/v1/runs/run_1",
    onFrame: frame => frames.push(frame),
    onStatus: status => statuses.push(status),
    onPing: () => (pings += 1),
    onOpen: again => resumed.push(again),
    socket: url => new Wire(url) as unknown as WebSocket,
    delay: attempt => 100 * 2 ** attempt,
    silence: 1000,
  });
  clients.push(client);
  return client;
}

beforeEach(() => {
  vi.useFakeTimers();
  Wire.opened = [];
  frames = [];
  statuses = [];
  resumed = [];
  pings = 0;
});
afterEach(() => {
  // One that is left open would answer to the next test's network.
  for (const client of clients) client.close();
  clients = [];
  vi.useRealTimers();
});

describe("without a network", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("is lost at once, tries nothing, and goes on where it was when there is one again", () => {
    const client = open();
    wire(0).onopen?.();
    wire(0).send({ type: "events", seq: 7 });
    vi.stubGlobal("navigator", { onLine: false });
    window.dispatchEvent(new Event("offline"));
    expect(statuses.at(-1)).toBe("lost");
    vi.advanceTimersByTime(60_000);
    expect(Wire.opened).toHaveLength(1);
    vi.stubGlobal("navigator", { onLine: true });
    window.dispatchEvent(new Event("online"));
    expect(wire(1).url).toBe("ws://host/ws/v1/runs/run_1?after=7");
    client.close();
    window.dispatchEvent(new Event("online"));
    expect(Wire.opened).toHaveLength(2);
  });
});

describe("a connection that does not close", () => {
  const stuck = (index: number) => {
    wire(index).isStuck = true;
    return wire(index);
  };
  afterEach(() => vi.unstubAllGlobals());

  it("is lost as soon as the browser has no network", () => {
    const client = open();
    const first = stuck(0);
    first.onopen?.();
    first.send({ type: "events", seq: 7 });
    vi.stubGlobal("navigator", { onLine: false });
    window.dispatchEvent(new Event("offline"));
    expect(statuses).toEqual(["live", "lost"]);
    vi.stubGlobal("navigator", { onLine: true });
    window.dispatchEvent(new Event("online"));
    wire(1).onopen?.();
    first.send({ type: "events", seq: 8 });
    first.onclose?.();
    expect(statuses).toEqual(["live", "lost", "live"]);
    expect(frames.map(frame => frame.seq)).toEqual([7]);
    client.close();
  });

  it("is lost after a silence, whatever the browser thinks of the network", () => {
    const client = open();
    stuck(0).onopen?.();
    vi.advanceTimersByTime(999);
    expect(statuses).toEqual(["live"]);
    vi.advanceTimersByTime(1);
    expect(statuses).toEqual(["live", "lost"]);
    vi.advanceTimersByTime(100);
    expect(Wire.opened).toHaveLength(2);
    client.close();
  });

  it("is given up if it is never opened", () => {
    const client = open();
    stuck(0);
    vi.advanceTimersByTime(1000);
    expect(statuses).toEqual(["lost"]);
    vi.advanceTimersByTime(100);
    expect(Wire.opened).toHaveLength(2);
    expect(statuses).toEqual(["lost"]);
    client.close();
  });
});

describe("resume", () => {
  it("asks for what follows the last frame it has seen", () => {
    const client = open();
    expect(wire(0).url).toBe("ws://host/ws/v1/runs/run_1");
    wire(0).onopen?.();
    wire(0).send({ type: "events", seq: 41 });
    wire(0).send({ type: "events", seq: 44 });
    wire(0).close();
    vi.advanceTimersByTime(100);
    expect(wire(1).url).toBe("ws://host/ws/v1/runs/run_1?after=44");
    wire(1).onopen?.();
    expect(resumed).toEqual([false, true]);
    client.close();
  });

  it("hands on no frame twice", () => {
    open();
    wire(0).onopen?.();
    wire(0).send({ type: "events", seq: 41 });
    wire(0).send({ type: "events", seq: 41 });
    wire(0).send({ type: "events", seq: 40 });
    wire(0).send({ type: "events", seq: 42 });
    expect(frames.map(frame => frame.seq)).toEqual([41, 42]);
  });

  it("tells of pings, which are no frames", () => {
    open();
    wire(0).onopen?.();
    wire(0).send({ type: "ping" });
    expect(frames).toEqual([]);
    expect(pings).toBe(1);
  });
});

describe("reconnection", () => {
  it("waits longer after each failure, and starts over after a success", () => {
    open();
    wire(0).close();
    vi.advanceTimersByTime(100);
    wire(1).close();
    vi.advanceTimersByTime(199);
    expect(Wire.opened).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(Wire.opened).toHaveLength(3);
    wire(2).onopen?.();
    wire(2).close();
    vi.advanceTimersByTime(100);
    expect(Wire.opened).toHaveLength(4);
    expect(statuses).toContain("lost");
  });

  it("takes silence for a dead connection", () => {
    open();
    wire(0).onopen?.();
    vi.advanceTimersByTime(900);
    wire(0).send({ type: "ping" });
    vi.advanceTimersByTime(900);
    expect(Wire.opened).toHaveLength(1);
    vi.advanceTimersByTime(200);
    expect(Wire.opened).toHaveLength(2);
  });

  it("stays closed once it was closed", () => {
    const client = open();
    wire(0).onopen?.();
    client.close();
    vi.advanceTimersByTime(60_000);
    expect(Wire.opened).toHaveLength(1);
  });
});
