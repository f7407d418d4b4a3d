/** Opens the charts with the team's default view where the address says nothing, once. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { ChartsSearch } from "@/entities/runs/search";
import { defaultFor, searchOf, viewsQuery } from "./views";

export function useDefaultView(search: ChartsSearch, change: (next: Partial<ChartsSearch>) => void): void {
  const views = useQuery(viewsQuery).data?.data;
  const isAsked = useRef(false);
  useEffect(() => {
    if (isAsked.current || views === undefined) return;
    isAsked.current = true;
    const found = defaultFor(search, views);
    if (found) change(searchOf(found));
  }, [views, search, change]);
}
