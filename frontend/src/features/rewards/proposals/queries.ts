import * as api from "@/api/client";
import { queryOptions } from "@tanstack/react-query";
import type { RubricProposal } from "@/api/model";

export type ProposalState = RubricProposal["state"];

/** Proposals for a reward's rubrics, in one state or all. Under the reward's key: a new version may end some. */
export const proposalsQuery = (reward: string, state: ProposalState | undefined) =>
  queryOptions({
    queryKey: ["rewards", reward, "proposals", state ?? null],
    queryFn: ({ signal }) => api.listRubricProposals(reward, { limit: 200, state }, { signal }),
  });
