/** What a run learns from, as its spec and its API document say it. */
import type { Json, Run, Spec } from "@/api/model";
import { RUN_TABS, type RunTab } from "./search";
import { getIn } from "@/features/schema-form/pointer";

export type Objective = "rl" | "sft" | "preference";

export interface ObjectiveWords {
  type: Objective;
  /** What the policy learns from. */
  title: string;
  /** Kind of training. */
  method: string;
  /** Name on labels, where space is short. */
  short: string;
  hint: string;
  /** Name of a new run. */
  run: string;
}

export const OBJECTIVES: readonly ObjectiveWords[] = [
  {
    type: "rl",
    title: "Rewards",
    method: "reinforcement learning",
    short: "RL",
    hint: "The policy samples completions. A reward scores them.",
    run: "RL run",
  },
  {
    type: "sft",
    title: "Examples",
    method: "supervised",
    short: "SFT",
    hint: "Each row of the dataset holds a completion to learn.",
    run: "Supervised run",
  },
  {
    type: "preference",
    title: "Preferences",
    method: "DPO and others",
    short: "Preference",
    hint: "Each row holds a better and a worse completion.",
    run: "Preference run",
  },
];

const isObjective = (value: unknown): value is Objective => OBJECTIVES.some(one => one.type === value);

/** The objective of a spec; documents that name none are of reinforcement learning. */
export function objectiveOf(spec: Spec | Json | null | undefined): Objective {
  const type = getIn(spec as Json | undefined, ["objective", "type"]);
  return isObjective(type) ? type : "rl";
}

/** The objective of a run. Lists hold no specs, but say it in a field of its own. */
export function runObjective(run: Pick<Run, "objective" | "spec" | "effective_spec">): Objective {
  return isObjective(run.objective) ? run.objective : objectiveOf(run.effective_spec ?? run.spec);
}

/** Whether a run samples completions and has rewards. */
export function samples(run: Parameters<typeof runObjective>[0]): boolean {
  return runObjective(run) === "rl";
}

/** What rows with these columns are for; undefined: prompts, whose completions are sampled. */
export function objectiveFor(columns: { name: string }[]): Objective | undefined {
  const has = (name: string) => columns.some(column => column.name === name);
  if (has("chosen") && has("rejected")) return "preference";
  // With an answer beside it a completion is one of many, and a reward can grade others.
  return has("completion") && !has("answer") ? "sft" : undefined;
}

/** Tabs of a run's page that have a meaning for it. */
export function tabsOf(run: Parameters<typeof runObjective>[0]): RunTab[] {
  return RUN_TABS.filter(tab => tab !== "rollouts" || samples(run));
}

/** Metrics that runs report which sample nothing. */
const OF_EXAMPLES = /^(actor\/(loss|grad_norm|lr)$|timing_s\/|perf\/|training\/|sft\/|examples\/|preference\/|eval\/)/;

/** Whether a guard on this metric has anything to watch in a run without samples. */
export function isOfExamples(metric: unknown): boolean {
  return typeof metric === "string" && OF_EXAMPLES.test(metric);
}

export function wordsOf(objective: Objective): ObjectiveWords {
  return OBJECTIVES.find(one => one.type === objective) as ObjectiveWords;
}
