import * as api from "@/api/client";
import { useQueryClient } from "@tanstack/react-query";
import type { Reward, RubricProposal } from "@/api/model";
import { useSubmit } from "@/lib/useSubmit";
import { toast } from "@/ui/toast";

/** The decision on a proposal. Accepting makes a version; taking back what was accepted makes one too. */
export function useDecide(reward: Reward, proposal: RubricProposal) {
  const client = useQueryClient();
  // Pending until the list is refetched: a decided proposal is not decided twice.
  const onSettled = () => client.invalidateQueries({ queryKey: ["rewards"] });
  const accept = useSubmit({
    mutationFn: (body: { name?: string; description?: string; weight?: number; note: string }) =>
      api.acceptRubricProposal(reward.id, proposal.id, body),
    onSuccess: ({ version }) => toast(`Item added in ${version.ref}.`, "Accepted"),
    onSettled,
  });
  const retire = useSubmit({
    mutationFn: (note: string) => api.retireRubricProposal(reward.id, proposal.id, { note }),
    onSuccess: ({ version }) => toast(version ? `Item removed in ${version.ref}.` : "Listed under Retired."),
    onSettled,
  });
  return { accept, retire };
}
