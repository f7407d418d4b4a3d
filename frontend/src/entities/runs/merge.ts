/** Merges runs and controls from the stream and from queries, in the order of `lib/updates.ts`. */
import type { QueryClient } from "@tanstack/react-query";
import type { Control, List, Run } from "@/api/model";
import { recordUpdate, type Since, type Topic } from "@/lib/updates";

/** A run without its specs, which the stream leaves out. */
export type RunUpdate = Partial<Run>;

export const runTopic = (id: string): Topic<RunUpdate> => ({ name: `run/${id}` });
export const controlTopic = (runId: string): Topic<Control> => ({ name: `run/${runId}/control` });

/** Numbers that only grow; the step does so within an attempt. */
const COUNTERS = ["attempt", "revision", "step"] as const;

/** Above 0 if `one` is newer than `other`, below 0 if it is older, 0 if their numbers do not decide. */
export function compareRuns(one: RunUpdate, other: RunUpdate): number {
  for (const counter of COUNTERS) {
    const difference = (one[counter] ?? 0) - (other[counter] ?? 0);
    if (one[counter] !== undefined && other[counter] !== undefined && difference !== 0) return difference;
  }
  return 0;
}

/** `run` with an update that is not older. */
export function withUpdate(run: Run, update: RunUpdate): Run {
  return compareRuns(update, run) < 0 ? run : { ...run, ...update };
}

/** An answer about a run, with the updates since it was requested. */
export function mergeRun(answer: Run, since: Since): Run {
  return since(runTopic(answer.id)).reduce(withUpdate, answer);
}

/** A list of controls with one that is new or newer, newest revision first. */
export function withControl<L extends { data: Control[] }>(list: L, control: Control): L {
  const others = list.data.filter(one => one.id !== control.id);
  return { ...list, data: [...others, control].sort((a, b) => b.revision - a.revision) };
}

/** An answer with the controls of a run, with the updates since it was requested. */
export function mergeControls<L extends { data: Control[] }>(runId: string, answer: L, since: Since): L {
  return since(controlTopic(runId)).reduce((list, control) => withControl(list, control), answer);
}

/** The response that created or changed a control, or the stream's newer version of the control. */
export function mergeControl(runId: string, answer: Control, since: Since): Control {
  return since(controlTopic(runId)).findLast(one => one.id === answer.id) ?? answer;
}

/** Writes an update of a run into what is cached of it. */
export function writeRun(client: QueryClient, id: string, update: RunUpdate): void {
  recordUpdate(runTopic(id), update);
  client.setQueryData<Run>(["run", id], run => run && withUpdate(run, update));
}

/** Writes a control into the cached list of its run. */
export function writeControl(client: QueryClient, runId: string, control: Control): void {
  recordUpdate(controlTopic(runId), control);
  client.setQueryData<List<Control>>(["run", runId, "controls"], list => list && withControl(list, control));
}
