/** Which revisions of a run this console has made: a draft of one knob is not stale because another was applied. */
import { type QueryClient, skipToken, useQuery } from "@tanstack/react-query";
import type { OwnChange } from "./conflict";

const NONE: OwnChange[] = [];
const ownKey = (runId: string) => ["own-changes", runId] as const;

export function useOwnChanges(runId: string): OwnChange[] {
  const found = useQuery<OwnChange[]>({
    queryKey: ownKey(runId),
    queryFn: skipToken,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  return found.data ?? NONE;
}

export function noteOwnChange(client: QueryClient, runId: string, change: OwnChange): void {
  client.setQueryData<OwnChange[]>(ownKey(runId), known => [...(known ?? []), change]);
}
