/** Which revisions of a run this console has made: a draft of one knob is not stale because another was applied. */
import { type QueryClient, skipToken, useQuery } from "@tanstack/react-query";
import type { OwnChange } from "./conflict";

const NONE: OwnChange[] = [];
const ownKey = (runId: string) => ["own-changes", runId] as const;

export function useOwnChanges(runId: string): OwnChange[] {
  const found = useQuery<OwnChange[]>({
    queryKey: ownKey(runId),
    queryFn: skipToken,
    initialData: () => stored(runId),
    staleTime: Infinity,
    gcTime: Infinity,
  });
  return found.data ?? NONE;
}

export function noteOwnChange(client: QueryClient, runId: string, change: OwnChange): void {
  const all = [...(client.getQueryData<OwnChange[]>(ownKey(runId)) ?? stored(runId) ?? []), change];
  client.setQueryData<OwnChange[]>(ownKey(runId), all);
  try {
    window.sessionStorage.setItem(place(runId), JSON.stringify(all));
  } catch {
    // Without storage they are known as long as the page lives.
  }
}

const place = (runId: string) => `dressage.own-changes/${runId}`;

/** As this tab knew them before it was loaded again: drafts outlive the page, and must not find their own author in
 * conflict. */
function stored(runId: string): OwnChange[] | undefined {
  try {
    const found: unknown = JSON.parse(window.sessionStorage.getItem(place(runId)) ?? "null");
    return Array.isArray(found) ? (found as OwnChange[]) : undefined;
  } catch {
    return undefined;
  }
}
