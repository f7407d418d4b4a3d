// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Problem } from "@/api/http";
import { Cancelled, Gate } from "./gate";
import { Rate } from "./rate";
import { remembered } from "./remembered";
import { PART_BYTES, sendParts } from "./send-parts";
import { transferText } from "./transfer-text";

/** A gate that does not wait for the network. */
class Quick extends Gate {
  override async wait(): Promise<void> {}
}

/** Uploads as the platform keeps them, behind `fetch`. */
class Platform {
  uploads = new Map<string, { size: number; offset: number; content: Uint8Array[] }>();
  asked: string[] = [];
  /** What goes wrong with the next requests, in order; null lets one through. */
  faults: ((() => Response) | null)[] = [];

  fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const method = init.method ?? "GET";
    this.asked.push(`${method} ${url}`);
    if (init.signal?.aborted) throw new DOMException("Aborted", "AbortError");
    const fault = this.faults.shift();
    if (fault) return fault();
    if (method === "POST") {
      const id = `dsu_${this.uploads.size + 1}`;
      const { size } = JSON.parse(init.body as string) as { size: number };
      this.uploads.set(id, { size, offset: 0, content: [] });
      return answer(201, { id, size, offset: 0 });
    }
    const upload = this.uploads.get(url.split("/").at(-1) ?? "");
    if (!upload) return problem(404, "not_found");
    if (method === "GET") return answer(200, { size: upload.size, offset: upload.offset });
    const offset = Number(new Headers(init.headers).get("Upload-Offset"));
    if (offset !== upload.offset) return problem(409, "wrong_offset", { offset: upload.offset });
    const part = new Uint8Array(await (init.body as Blob).arrayBuffer());
    upload.content.push(part);
    upload.offset += part.length;
    return new Response(null, { status: 204 });
  };
}

const answer = (status: number, body: object) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const problem = (status: number, code: string, more: object = {}) => answer(status, { error: { code }, ...more });
const lost = () => {
  throw new TypeError("Failed to fetch");
};
const large = (name = "rows.jsonl") => new File([new Uint8Array(2 * PART_BYTES + 5)], name, { lastModified: 7 });

let platform: Platform;
beforeEach(() => {
  platform = new Platform();
  vi.stubGlobal("fetch", platform.fetch);
});
afterEach(() => {
  vi.unstubAllGlobals();
  localStorage.clear();
});

it("sends a file in parts and tells how far it has come", async () => {
  const told: [string, number][] = [];
  expect(await sendParts(large(), new Quick(), (phase, sent) => told.push([phase, sent]))).toBe("dsu_1");
  expect(platform.uploads.get("dsu_1")?.content.map(part => part.length)).toEqual([PART_BYTES, PART_BYTES, 5]);
  expect(told).toEqual([
    ["sending", 0],
    ["sending", PART_BYTES],
    ["sending", 2 * PART_BYTES],
    ["sending", 2 * PART_BYTES + 5],
  ]);
});

it("asks where to go on once the network is back", async () => {
  const phases: string[] = [];
  platform.faults = [null, null, lost, lost, null];
  await sendParts(large(), new Quick(), phase => phases.push(phase));
  expect(phases.filter(phase => phase === "waiting")).toHaveLength(2);
  expect(platform.uploads.get("dsu_1")?.offset).toBe(2 * PART_BYTES + 5);
  expect(platform.uploads.size).toBe(1);
});

it("goes on behind a part that has come though its answer was lost", async () => {
  const send = platform.fetch;
  let lose = true;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const found = await send(url, init);
    if (init.method === "PATCH" && lose) {
      lose = false;
      return lost();
    }
    return found;
  });
  await sendParts(large(), new Quick(), () => undefined);
  expect(platform.uploads.get("dsu_1")?.content.map(part => part.length)).toEqual([PART_BYTES, PART_BYTES, 5]);
});

it("goes on with the upload of the same file after a reload, and never with another file's", async () => {
  platform.faults = [null, null, () => problem(422, "broken")];
  await expect(sendParts(large(), new Quick(), () => undefined)).rejects.toBeInstanceOf(Problem);
  expect(platform.uploads.get("dsu_1")?.offset).toBe(PART_BYTES);
  expect(await sendParts(large("other.jsonl"), new Quick(), () => undefined)).toBe("dsu_2");
  expect(await sendParts(large(), new Quick(), () => undefined)).toBe("dsu_1");
  expect(platform.uploads.get("dsu_1")?.content.map(part => part.length)).toEqual([PART_BYTES, PART_BYTES, 5]);
});

it("begins anew when what had come has expired", async () => {
  platform.faults = [null, null, () => problem(422, "broken")];
  await expect(sendParts(large(), new Quick(), () => undefined)).rejects.toBeInstanceOf(Problem);
  platform.uploads.delete("dsu_1");
  platform.uploads.set("dsu_x", { size: 1, offset: 0, content: [] });
  expect(await sendParts(large(), new Quick(), () => undefined)).toBe("dsu_2");
  expect(remembered(large())).toBe("dsu_2");
});

it("tells what waiting does not mend at once, and what it might mend after a while", async () => {
  platform.faults = [() => problem(429, "uploads_too_large")];
  await expect(sendParts(large(), new Quick(), () => undefined)).rejects.toMatchObject({ code: "uploads_too_large" });
  expect(platform.asked).toHaveLength(1);
  platform.faults = Array.from({ length: 20 }, () => () => problem(503, "busy"));
  await expect(sendParts(large(), new Quick(), () => undefined)).rejects.toMatchObject({ code: "busy" });
  expect(platform.asked.length).toBeLessThan(10);
});

it("pauses, goes on, and is cancelled", async () => {
  const gate = new Quick();
  const phases: string[] = [];
  gate.pause();
  const done = sendParts(large(), gate, phase => {
    phases.push(phase);
    if (phase === "paused") gate.resume();
  });
  expect(await done).toBe("dsu_1");
  expect(phases.slice(0, 2)).toEqual(["paused", "sending"]);
  const other = new Quick();
  await expect(sendParts(large("b"), other, () => other.cancel())).rejects.toBeInstanceOf(Cancelled);
  expect(platform.uploads.get("dsu_2")?.offset).toBe(0);
});

it("tells rate and time left of the last while alone", () => {
  const rate = new Rate();
  expect(rate.bytesPerSecond).toBeNull();
  rate.add(0, 0);
  expect(rate.bytesPerSecond).toBeNull();
  rate.add(1 << 20, 1000);
  expect(rate.bytesPerSecond).toBe(1 << 20);
  for (let at = 2; at <= 40; at++) rate.add((1 << 20) + at, at * 1000);
  expect(rate.bytesPerSecond).toBeLessThan(2);
  rate.add(5, 41_000);
  expect(rate.bytesPerSecond).toBeNull();
});

it("says how far it is in words", () => {
  const total = 100 << 20;
  const told = (phase: "sending" | "waiting" | "paused" | "checking", rate: number | null) =>
    transferText({ phase, sent: 40 << 20, total, rate });
  expect(told("sending", 2 << 20)).toBe("40.0 MiB of 100 MiB · 2.0 MiB/s · 30 s left");
  expect(told("sending", null)).toBe("40.0 MiB of 100 MiB");
  expect(told("paused", null)).toBe("40.0 MiB of 100 MiB · paused");
  expect(told("waiting", null)).toBe("40.0 MiB of 100 MiB · waiting for the platform; resumes automatically");
  expect(told("checking", null)).toBe("100 MiB sent. Checking each row.");
});
