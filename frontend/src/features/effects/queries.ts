import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Control, Run } from "@/api/model";

/** Steps after which a window is full, as the platform calculates it. */
const AFTER = 20;

/** The effect of a control. Refetched as long as its windows may change. */
export const effectQuery = (run: Run, control: Control) =>
  queryOptions({
    queryKey: ["run", run.id, "effect", control.id, control.state, stateOf(run), run.revision, lastStep(run, control)],
    queryFn: ({ signal }) => api.getControlEffect(run.id, control.id, { signal }),
    placeholderData: keepPreviousData,
  });

/** Whether the run may still learn. */
function stateOf({ state }: Run): string {
  return ["succeeded", "failed", "cancelled"].includes(state) ? "over" : "on";
}

function lastStep(run: Run, { settled_step }: Control): number {
  return settled_step === null ? run.step : Math.min(run.step, settled_step + AFTER);
}
