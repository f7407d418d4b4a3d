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

/** Polled every second while one is in progress. */
export const importsQuery = queryOptions({
  queryKey: ["policy-imports"],
  queryFn: ({ signal }) => api.listPolicyImports({ limit: 50 }, { signal }),
  refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? 1000 : false),
});

export const sourcesQuery = queryOptions({
  queryKey: ["policy-sources"],
  queryFn: ({ signal }) => api.getPolicySources({ signal }),
});

/** Served policies, newest first. Asked every two seconds while one is on its way, and every ten while one is served:
 * its worker may be lost, and its address change. */
export const servingsQuery = queryOptions({
  queryKey: ["servings"],
  queryFn: ({ signal }) => api.listServings({ limit: 200 }, { signal }),
  refetchInterval: ({ state }) => {
    const open = state.data?.data.filter(({ state: now }) => now === "queued" || now === "running") ?? [];
    if (open.length === 0) return false;
    return open.some(({ base_url }) => base_url === null) ? 2000 : 10_000;
  },
});
