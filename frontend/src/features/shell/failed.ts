import type { Query } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useSyncExternalStore } from "react";
import { Problem } from "@/api/http";
import { isTold, onTold } from "@/ui/told";

const TOO_MANY = 429;

/** A fault of the platform or of the way to it. Refusals are answers, which forms and pages treat as such. */
const isFault = (error: unknown) => !(error instanceof Problem) || error.status >= 500 || error.status === TOO_MANY;

/** Queries that the page needs, that failed, and whose error no component shows. */
export function isUntold(query: Query): boolean {
  return query.isActive() && query.state.status === "error" && isFault(query.state.error) && !isTold(query.state.error);
}

/** Queries whose failure no component shows. The same array as long as they are the same. */
export function useUntoldFailures(): Query[] {
  const cache = useQueryClient().getQueryCache();
  const last = useRef<Query[]>([]);
  const subscribe = useCallback(
    (changed: () => void) => {
      const ends = [cache.subscribe(changed), onTold(changed)];
      return () => ends.forEach(end => end());
    },
    [cache],
  );
  const read = useCallback(() => {
    const found = cache.findAll({ predicate: isUntold });
    const same = found.length === last.current.length && found.every((query, at) => query === last.current[at]);
    if (!same) last.current = found;
    return last.current;
  }, [cache]);
  return useSyncExternalStore(subscribe, read);
}
