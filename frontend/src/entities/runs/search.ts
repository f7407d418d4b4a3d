/** View state of the run page that lives in its address. */
import type { XAxis } from "@/api/model";
import { number, oneOf, text } from "@/lib/search";

export const RUN_TABS = ["charts", "incidents", "rollouts", "events", "controls", "checkpoints", "config"] as const;
export type RunTab = (typeof RUN_TABS)[number];
const X_AXES = ["step", "time", "tokens", "gpu_hours", "cost"] as const;

/** What is drawn, over which axis, how smooth. */
export interface ChartsSearch {
  x?: XAxis;
  smooth?: number;
  /** Words of the metrics whose charts are shown. */
  find?: string;
  /** Metrics, or runs that are compared, whose lines are hidden; separated by commas. */
  hide?: string;
  /** Charts shown first, in order; without it, the pins stored in the browser. */
  pins?: string;
  /** Charts whose axis is switched between linear and logarithmic. */
  log?: string;
  /** Id of the saved view that was applied; `none` keeps the team's default away. */
  view?: string;
  from?: number;
  to?: number;
}

/** Groups that the table of rollouts is narrowed to. */
export const ONLY_GROUPS = ["alive", "dead", "cut", "error"] as const;
export type OnlyGroups = (typeof ONLY_GROUPS)[number];

export interface RunSearch extends ChartsSearch {
  tab?: RunTab;
  /** Whether the parent's curves are drawn behind; on by default. */
  parent?: "off";
  /** Filters of the rollouts table. */
  step?: number;
  source?: string;
  prompt?: string;
  min?: number;
  max?: number;
  first?: number;
  last?: number;
  /** Text that a prompt or completion holds. */
  q?: string;
  only?: OnlyGroups;
  /** The group that is open, and its chosen sample: `<group>:<sample>`. */
  group?: string;
  /** What its tokens are coloured by; they are shown where this says something. */
  overlay?: string;
  /** The token that is looked at. */
  token?: number;
  /** Whether the thinking among the tokens is unfolded. */
  thinking?: "open";
  kind?: string;
  /** The step of the tour that is shown, from 1. */
  tour?: number;
}

/** View state of the page on which runs are compared. */
export interface CompareSearch extends ChartsSearch {
  /** Ids, separated by commas. */
  runs?: string;
  /** Whether forks are aligned to their parents; on by default. */
  lineage?: "off";
}

export const MOST_COMPARED = 20;

/** Ids of all runs that the address names, and of those that are compared. */
export const namedIds = ({ runs }: CompareSearch): string[] => [...new Set(runs?.split(",").filter(Boolean))];
export const comparedIds = (search: CompareSearch): string[] => namedIds(search).slice(0, MOST_COMPARED);

function chartsSearch(search: Record<string, unknown>): ChartsSearch {
  return {
    x: oneOf(search.x, X_AXES),
    smooth: number(search.smooth),
    find: text(search.find),
    hide: text(search.hide),
    pins: text(search.pins),
    log: text(search.log),
    view: text(search.view),
    from: number(search.from),
    to: number(search.to),
  };
}

export function compareSearch(search: Record<string, unknown>): CompareSearch {
  return { ...chartsSearch(search), runs: text(search.runs), lineage: oneOf(search.lineage, ["off"]) };
}

export function runSearch(search: Record<string, unknown>): RunSearch {
  return {
    ...chartsSearch(search),
    tab: oneOf(search.tab, RUN_TABS),
    parent: oneOf(search.parent, ["off"]),
    step: number(search.step),
    source: text(search.source),
    prompt: text(search.prompt),
    min: number(search.min),
    max: number(search.max),
    first: number(search.first),
    last: number(search.last),
    q: text(search.q),
    only: oneOf(search.only, ONLY_GROUPS),
    group: text(search.group),
    overlay: text(search.overlay),
    token: number(search.token),
    thinking: oneOf(search.thinking, ["open"]),
    kind: text(search.kind),
    tour: number(search.tour),
  };
}
