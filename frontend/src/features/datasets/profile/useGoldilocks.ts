import { useMutation, useQueryClient } from "@tanstack/react-query";
import { goldilocks } from "@/api/client";
import type { Dataset, DatasetVersion } from "@/api/model";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { type GoldilocksFields, goldilocksOf } from "./goldilocks";
import { goldilocksQuery } from "./queries";

/** What a person can do with the form: ask the cost of what it holds, and start that. */
export function useGoldilocks(
  dataset: Dataset,
  version: DatasetVersion,
  fields: GoldilocksFields,
  onStarted: () => void,
) {
  const client = useQueryClient();
  const keyFor = useRequestKey();
  const body = goldilocksOf(dataset, version, fields);
  const cost = useMutation({ mutationFn: () => goldilocks.cost(body) });
  const start = useSubmit({
    // A start behind another look at the cost is another one, though it asks for the same.
    mutationFn: () => goldilocks.start(body, keyFor([body, cost.submittedAt])),
    onSuccess: () => {
      cost.reset();
      onStarted();
    },
    onSettled: () => client.invalidateQueries({ queryKey: goldilocksQuery(dataset.id, version.number).queryKey }),
  });
  return { cost, start };
}
