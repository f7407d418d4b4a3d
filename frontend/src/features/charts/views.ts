/** Converts saved views to addresses and back. */
import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { ChartsDocument, ChartView } from "@/api/model";
import type { ChartsSearch } from "@/entities/runs/search";

/** The parts of the address that a view sets. */
const DECIDES = ["x", "smooth", "hide", "pins", "log", "view"] as const;

export const viewsQuery = queryOptions({
  queryKey: ["chart-views"],
  queryFn: ({ signal }) => api.listChartViews({ limit: 200 }, { signal }),
});

export function listed(text: string | undefined): string[] {
  return text === undefined || text === "none" ? [] : text.split(",").filter(Boolean);
}

export function joined(list: readonly string[] | undefined): string | undefined {
  return list?.length ? list.join(",") : undefined;
}

/** The address of charts as a view has them. A view without pins leaves those of the browser. */
export function searchOf({ id, charts }: Pick<ChartView, "id" | "charts">): Partial<ChartsSearch> {
  return {
    x: charts.x === "step" ? undefined : charts.x,
    smooth: charts.smooth || undefined,
    hide: joined(charts.hide),
    pins: joined(charts.pins),
    log: joined(charts.log),
    view: id,
    // A zoom is of the axis before.
    from: undefined,
    to: undefined,
  };
}

/** The view of the current charts. */
export function chartsOf(search: ChartsSearch, pins: string[]): Required<ChartsDocument> {
  return {
    x: search.x ?? "step",
    smooth: search.smooth ?? 0,
    hide: listed(search.hide),
    pins,
    log: listed(search.log),
  };
}

/** Whether the charts have been changed since the view was applied. */
export function isChanged(view: ChartView, search: ChartsSearch, pins: string[]): boolean {
  const said = chartsOf(searchOf(view), view.charts.pins?.length ? view.charts.pins : pins);
  return JSON.stringify(said) !== JSON.stringify(chartsOf(search, pins));
}

/** The team's default view, if the address sets nothing that a view sets. */
export function defaultFor(search: ChartsSearch, views: ChartView[] | undefined): ChartView | undefined {
  if (DECIDES.some(name => search[name] !== undefined)) return undefined;
  return views?.find(view => view.default);
}

/** `pins` with one of them moved to the position of another. */
export function placed(pins: string[], id: string, at: string): string[] {
  const [from, to] = [pins.indexOf(id), pins.indexOf(at)];
  if (from < 0 || to < 0) return pins;
  const others = pins.filter(one => one !== id);
  return [...others.slice(0, to), id, ...others.slice(to)];
}

/** `list` with one more, or without it where it has it. */
export function toggled(list: string[], id: string): string[] {
  return list.includes(id) ? list.filter(one => one !== id) : [...list, id];
}
