import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import { isOpen } from "./imports";

export const policiesQuery = queryOptions({
  queryKey: ["policies"],
  queryFn: ({ signal }) => api.listPolicies({ limit: 200 }, { signal }),
});

export const policyQuery = (id: string) =>
  queryOptions({
    queryKey: ["policies", id],
    queryFn: ({ signal }) => api.getPolicy(id, { signal }),
  });

export const policyFactsQuery = (id: string) =>
  queryOptions({
    queryKey: ["policies", id, "facts"],
    queryFn: ({ signal }) => api.getPolicyFacts(id, { signal }),
  });

/** Asked every second while one is on its way. */
export const importsQuery = queryOptions({
  queryKey: ["policy-imports"],
  queryFn: ({ signal }) => api.listPolicyImports({ limit: 50 }, { signal }),
  refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? 1000 : false),
});

export const sourcesQuery = queryOptions({
  queryKey: ["policy-sources"],
  queryFn: ({ signal }) => api.getPolicySources({ signal }),
});
