import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import * as api from "@/api/client";
import type { Dataset, DatasetVersion, DeriveRequest, LabOperation } from "@/api/model";
import { useDerive } from "@/entities/datasets/useDerive";
import { useSubmit } from "@/lib/useSubmit";
import { toastError } from "@/ui/toast";

/** Actions on a lab operation: estimate its cost, start, cancel, resume, undo, create a version. */
export function useLab(dataset: Dataset, version: DatasetVersion) {
  const client = useQueryClient();
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const refresh = () => client.invalidateQueries({ queryKey: ["datasets", dataset.id, "lab", version.number] });
  const cost = useMutation({
    mutationFn: (operation: LabOperation) => api.startLabJob(dataset.id, version.number, { operation, dry_run: true }),
  });
  const derive = useDerive(dataset, version);
  const start = useSubmit({
    mutationFn: (operation: LabOperation) => api.startLabJob(dataset.id, version.number, { operation }),
    onSuccess: () => cost.reset(),
    onSettled: refresh,
  });
  const cancel = useMutation({
    mutationFn: (id: string) => api.cancelLabJob(id),
    onError: error => toastError("The job was not cancelled", error),
    onSettled: refresh,
  });
  const resume = useSubmit({
    mutationFn: (id: string) => api.resumeLabJob(id),
    onError: error => toastError("The job was not resumed", error),
    onSettled: refresh,
  });
  const undo = useMutation({
    mutationFn: (id: string) => api.undoLabJob(id),
    onError: error => toastError("The notes were not removed", error),
    // With the version a whole dataset may be gone.
    onSettled: () => client.invalidateQueries({ queryKey: ["datasets"] }),
  });
  const make = useSubmit({
    mutationFn: (operation: DeriveRequest["operation"]) => derive({ operation }),
    onError: error => toastError("No version was created", error),
    onSuccess: async ({ results }) => {
      await navigate({ search: { version: results[0]?.number } });
    },
  });
  return { cost, start, cancel, resume, undo, make };
}
