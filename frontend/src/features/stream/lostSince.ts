/** Whether a page receives messages from the platform. */
import type { StreamStatus } from "./streamClient";

export interface RunStream {
  status: StreamStatus;
  /** When the last frame, ping or opening was, in milliseconds; null before the first. */
  heardAt: number | null;
}

/**
 * When the platform was heard last, in milliseconds; null while it is heard, and while a page that has just been opened
 * connects. Both the network, as the browser sees it, and the stream can tell; whichever tells first is believed.
 *
 * @param shownAt - when what is shown was answered, in milliseconds: it counts where the stream was never heard.
 */
export function lostSince({ status, heardAt }: RunStream, online: boolean, shownAt: number): number | null {
  return online && status !== "lost" ? null : (heardAt ?? shownAt);
}
