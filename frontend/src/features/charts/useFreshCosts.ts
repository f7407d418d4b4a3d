/** Refetches the charts of a live run while they use an axis that only the platform knows. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Run, XAxis } from "@/api/model";
import { isLive } from "@/entities/runs/states";
import { isCostAxis } from "./axes";

/** Milliseconds between refetches. */
export const LOOK_EVERY = 10_000;

export function useFreshCosts({ id, state }: Pick<Run, "id" | "state">, x: XAxis): void {
  const client = useQueryClient();
  const isAwaited = isCostAxis(x) && isLive(state);
  useEffect(() => {
    if (!isAwaited) return;
    const timer = window.setInterval(() => {
      void client.invalidateQueries({ queryKey: ["run", id, "metrics", x] });
    }, LOOK_EVERY);
    return () => window.clearInterval(timer);
  }, [client, id, x, isAwaited]);
}
