/**
 * Sends a file in parts, and continues where it was left: after a pause, a lost network, or a reload of the page. What has
 * come is the platform's to say; after any doubt it is asked.
 */
import * as api from "@/api/client";
import { Problem } from "@/api/http";
import { newKey } from "@/lib/key";
import type { Gate } from "./gate";
import { forget, remember, remembered } from "./remembered";

export const PART_BYTES = 8 << 20;
const LONGEST_WAIT_MS = 30_000;
/** Refusals in a row of a platform that can be reached, after which it is told. A lost network is waited for. */
const MOST_REFUSALS = 6;

export type Phase = "sending" | "waiting" | "paused";
export type Tell = (phase: Phase, sent: number) => void;

/**
 * The id of an upload of which all has come.
 *
 * @throws Cancelled, or a Problem that trying again does not mend.
 */
export async function sendParts(file: File, gate: Gate, tell: Tell): Promise<string> {
  const key = newKey();
  let id: string | null = remembered(file);
  /** Null if only the platform knows it. */
  let offset: number | null = null;
  let sent = 0;
  let faults = 0;
  let refusals = 0;
  for (;;) {
    if (gate.paused) tell("paused", sent);
    await gate.passed();
    try {
      if (id === null) {
        const asked = { name: file.name.slice(-200), size: file.size };
        id = (await api.startDatasetUpload(asked, { "Idempotency-Key": key })).id;
        remember(file, id);
        offset = 0;
      }
      offset ??= await offsetOf(id, file, gate.signal);
      if (offset === null) {
        forget(file);
        id = null;
        continue;
      }
      sent = offset;
      if (faults === 0) tell("sending", sent); // else it waits until a part has come again
      if (offset === file.size) return id;
      const part = file.slice(offset, offset + PART_BYTES);
      await api.sendDatasetUploadPart(
        id,
        part,
        { "Upload-Offset": String(offset), ...(await checksum(part)) },
        { signal: gate.signal },
      );
      offset += part.size;
      sent = offset;
      faults = refusals = 0;
    } catch (error) {
      if (gate.paused || gate.cancelled) {
        offset = null;
        continue;
      }
      if (!passes(error)) throw error;
      refusals += error instanceof Problem ? 1 : 0;
      if (refusals > MOST_REFUSALS) throw error;
      offset = null;
      tell("waiting", sent);
      await gate.wait(Math.min(LONGEST_WAIT_MS, 500 * 2 ** faults++));
    }
  }
}

/** Bytes that have come; null when the upload is gone, or another file's. */
async function offsetOf(id: string, file: File, signal: AbortSignal): Promise<number | null> {
  try {
    const upload = await api.getDatasetUpload(id, { signal });
    return upload.size === file.size ? upload.offset : null;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/** Whether what failed may go well another time. */
function passes(error: unknown): boolean {
  if (!(error instanceof Problem)) return error instanceof TypeError; // the network's
  if (error.code === "wrong_offset" || error.code === "upload_is_being_written") return true;
  return error.code === "wrong_checksum" || error.status === 408 || error.status === 502 || error.status === 503;
}

/** The header of tus; none if the page may not compute a checksum, as without https. */
async function checksum(part: Blob): Promise<{ "Upload-Checksum"?: string }> {
  if (!globalThis.crypto?.subtle) return {};
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await part.arrayBuffer()));
  return { "Upload-Checksum": `sha256 ${btoa(String.fromCharCode(...digest))}` };
}
