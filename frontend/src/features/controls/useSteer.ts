/** Sends controls. Nothing is drawn as applied here: the worker's word comes over the stream. */
import { controls } from "@/api/client";
import { useQueryClient } from "@tanstack/react-query";
import type { Control, Json, List, Run } from "@/api/model";
import { useSubmit } from "@/lib/useSubmit";

export interface Change {
  target: string;
  value: Json;
}

export interface SteerInput {
  changes: Change[];
  reason: string;
  /** The revision the person has seen. */
  revision: number;
}

export function useSteer(runId: string) {
  const client = useQueryClient();
  return useSubmit({
    mutationFn: ({ changes, reason, revision }: SteerInput) => controls.stage(runId, changes, reason, revision),
    onSuccess: made => {
      for (const control of made) remember(client, runId, control);
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ["run", runId] }),
  });
}

export type ControlAct = "cancel" | "revert" | "rewind";

export function useControlAct(runId: string) {
  const client = useQueryClient();
  return useSubmit({
    mutationFn: ({
      control,
      act,
      revision,
    }: {
      control: Control;
      act: ControlAct;
      revision: number;
    }): Promise<{ id: string }> => {
      if (act === "revert") return controls.revert(runId, control.id, revision);
      return act === "cancel" ? controls.cancel(runId, control.id) : controls.rewind(runId, control.id);
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ["run", runId] }),
  });
}

function remember(client: ReturnType<typeof useQueryClient>, runId: string, control: Control): void {
  client.setQueryData<List<Control>>(["run", runId, "controls"], list =>
    list ? { ...list, data: [control, ...list.data.filter(one => one.id !== control.id)] } : list,
  );
  client.setQueryData<Run>(["run", runId], run =>
    run ? { ...run, revision: Math.max(run.revision, control.revision) } : run,
  );
}
