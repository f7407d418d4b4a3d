/** View state of the run page that lives in its address. */
import type { XAxis } from "@/api/model";
import { number, oneOf, text } from "@/lib/search";

export const RUN_TABS = ["charts", "rollouts", "events", "controls", "checkpoints", "config"] as const;
export type RunTab = (typeof RUN_TABS)[number];
const X_AXES = ["step", "time", "tokens"] as const;

export interface RunSearch {
  tab?: RunTab;
  x?: XAxis;
  smooth?: number;
  /** Words of the metrics whose charts are shown. */
  find?: string;
  /** Metrics whose lines are hidden, separated by commas. */
  hide?: string;
  from?: number;
  to?: number;
  /** Filters of the rollouts table. */
  step?: number;
  source?: string;
  prompt?: string;
  min?: number;
  group?: string;
  kind?: string;
}

export function runSearch(search: Record<string, unknown>): RunSearch {
  return {
    tab: oneOf(search.tab, RUN_TABS),
    x: oneOf(search.x, X_AXES),
    smooth: number(search.smooth),
    find: text(search.find),
    hide: text(search.hide),
    from: number(search.from),
    to: number(search.to),
    step: number(search.step),
    source: text(search.source),
    prompt: text(search.prompt),
    min: number(search.min),
    group: text(search.group),
    kind: text(search.kind),
  };
}
