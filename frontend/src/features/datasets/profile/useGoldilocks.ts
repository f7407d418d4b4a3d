import { useMutation, useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Dataset, DatasetVersion } from "@/api/model";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { type GoldilocksFields, goldilocksOf } from "./goldilocks";
import { goldilocksQuery } from "./queries";

/** Actions of the form: estimate the cost, and start. */
export function useGoldilocks(
  dataset: Dataset,
  version: DatasetVersion,
  fields: GoldilocksFields,
  onStarted: () => void,
) {
  const client = useQueryClient();
  const keyFor = useRequestKey();
  const body = goldilocksOf(dataset, version, fields);
  const cost = useMutation({ mutationFn: () => api.startGoldilocks({ ...body, dry_run: true }) });
  const start = useSubmit({
    // A start behind another look at the cost is another one, though it asks for the same.
    mutationFn: () => api.startGoldilocks(body, { "Idempotency-Key": keyFor([body, cost.submittedAt]) }),
    onSuccess: () => {
      cost.reset();
      onStarted();
    },
    onSettled: () => client.invalidateQueries({ queryKey: goldilocksQuery(dataset.id, version.number).queryKey }),
  });
  return { cost, start };
}
