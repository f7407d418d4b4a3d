/** Sends controls. Nothing is shown as applied here: the worker reports that over the stream. */
import * as api from "@/api/client";
import { useIsMutating, useQueryClient } from "@tanstack/react-query";
import type { Control } from "@/api/model";
import { mergeControl, writeControl, writeRun } from "@/entities/runs/merge";
import { fetchInOrder, outdate } from "@/lib/updates";
import { useSubmit } from "@/lib/useSubmit";
import { seenRevision } from "./conflict";
import { noteOwnChange } from "./ownChanges";
import type { When } from "./schedule";
import { type Change, stage } from "./stage";

export interface SteerInput {
  changes: Change[];
  reason: string;
  /** The newest revision that the person had seen when the draft was started. */
  revision: number;
  when: When;
}

/** Of everything that changes controls: updates from the stream in the meantime may be this console's own. */
const steerKey = (runId: string) => ["run", runId, "steer"];

export function useIsSteering(runId: string): boolean {
  return useIsMutating({ mutationKey: steerKey(runId) }) > 0;
}

export function useSteer(runId: string) {
  const client = useQueryClient();
  return useSubmit({
    mutationKey: steerKey(runId),
    mutationFn: ({ changes, reason, revision, when }: SteerInput) =>
      fetchInOrder(
        () => stage(runId, changes, reason, revision, when),
        (made, since) => made.map(one => mergeControl(runId, one, since)),
      ),
    onSuccess: (made, { revision }) => {
      noteOwnChange(client, runId, { after: revision, revision: seenRevision(made) });
      for (const control of made) writeControl(client, runId, control);
      writeRun(client, runId, { revision: seenRevision(made) });
    },
    onSettled: () => outdate(client, { queryKey: ["run", runId] }),
  });
}

export type ControlAct = "cancel" | "revert" | "rewind";

export function useControlAct(runId: string) {
  const client = useQueryClient();
  return useSubmit({
    mutationKey: steerKey(runId),
    mutationFn: async ({
      controls: together,
      act,
      revision,
    }: {
      /** Those that were made together, at least one. */
      controls: Control[];
      act: ControlAct;
      revision: number;
    }): Promise<{ id: string }> => {
      const [control, ...others] = together;
      if (!control) throw new Error("No control selected.");
      if (act === "revert") {
        const back = together.map(({ target, before }) => ({ target, value: before }));
        const why = `reverts ${together.map(one => `revision ${one.revision}`).join(" and ")}`;
        const made =
          others.length > 0
            ? await stage(runId, back, why, revision)
            : [await api.revertControl(runId, control.id, {}, { "If-Match": `"${revision}"` })];
        noteOwnChange(client, runId, { after: revision, revision: seenRevision(made) });
        return control;
      }
      return act === "cancel" ? api.cancelControl(runId, control.id) : api.rewindControl(runId, control.id, {});
    },
    onSettled: () => outdate(client, { queryKey: ["run", runId] }),
  });
}
