/** Samples by the addresses that the page of a run has. */

/** Characters of a prompt, and of a completion, that are kept in a report. */
export const MOST_SHOWN = 4_000;

export interface NamedSample {
  run: string;
  group: string;
  sample: number;
}

/** The sample that an address of this console names; null if it names none. */
export function sampleOf(address: string): NamedSample | null {
  let url: URL;
  try {
    url = new URL(address.trim(), "http://console");
  } catch {
    return null;
  }
  const run = /^\/runs\/([A-Za-z0-9_-]+)$/.exec(url.pathname)?.[1];
  // The router writes texts that look like JSON in quotes.
  const text = (url.searchParams.get("group") ?? "").replace(/^"(.*)"$/, "$1");
  const at = text.lastIndexOf(":");
  const group = at < 0 ? text : text.slice(0, at);
  const sample = at < 0 ? 0 : Number(text.slice(at + 1));
  return run && group && Number.isInteger(sample) && sample >= 0 ? { run, group, sample } : null;
}

/** The beginning of a text, which says that it is cut. */
export function shortened(text: string): string {
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN - 2).trimEnd()} …`;
}
