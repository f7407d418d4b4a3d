/** Errors shown in place of the content that failed to load. The frame shows all others above the page. */
import { useEffect } from "react";

const counts = new Map<unknown, number>();
const listeners = new Set<() => void>();

export const isTold = (error: unknown) => counts.has(error);

/** Calls back whenever a shown error is added or removed. Returns the unsubscribe function. */
export function onTold(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Marks an error as shown while the calling component is mounted. */
export function useTold(error: unknown): void {
  useEffect(() => {
    count(error, 1);
    return () => count(error, -1);
  }, [error]);
}

function count(error: unknown, by: number): void {
  const places = (counts.get(error) ?? 0) + by;
  if (places > 0) counts.set(error, places);
  else counts.delete(error);
  for (const listener of listeners) listener();
}
