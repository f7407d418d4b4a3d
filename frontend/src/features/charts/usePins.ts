/** Pinned charts: from the address, else those stored in the browser for all runs. */
import { useLocalStorage } from "@mantine/hooks";
import { useCallback, useMemo } from "react";
import type { ChartsSearch } from "@/entities/runs/search";
import { joined, listed, placed, toggled } from "./views";

/** In the address, where an empty list would let the browser's own pins show. */
const NONE = "none";

export function usePins(named: string | undefined, change: (next: Partial<ChartsSearch>) => void) {
  const [kept, setKept] = useLocalStorage<string[]>({
    key: "dressage.pinned-charts",
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const pins = useMemo(() => (named === undefined ? kept : listed(named)), [named, kept]);
  const set = useCallback(
    (next: (pins: string[]) => string[]) => {
      if (named === undefined) setKept(next);
      else change({ pins: joined(next(listed(named))) ?? NONE });
    },
    [named, setKept, change],
  );
  const toggle = useCallback((id: string) => set(now => toggled(now, id)), [set]);
  const place = useCallback((id: string, at: string) => set(now => placed(now, id, at)), [set]);
  return { pins, toggle, place };
}
