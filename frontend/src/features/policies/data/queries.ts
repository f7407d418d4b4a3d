import { queryOptions } from "@tanstack/react-query";
import { policies, policyImports, policySources } from "@/api/client";
import { isOpen } from "./imports";

export const policiesQuery = queryOptions({
  queryKey: ["policies"],
  queryFn: ({ signal }) => policies.list(signal),
});

export const policyQuery = (id: string) =>
  queryOptions({
    queryKey: ["policies", id],
    queryFn: ({ signal }) => policies.read(id, signal),
  });

export const policyFactsQuery = (id: string) =>
  queryOptions({
    queryKey: ["policies", id, "facts"],
    queryFn: ({ signal }) => policies.facts(id, signal),
  });

/** Asked every second while one is on its way. */
export const importsQuery = queryOptions({
  queryKey: ["policy-imports"],
  queryFn: ({ signal }) => policyImports.list(signal),
  refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? 1000 : false),
});

export const sourcesQuery = queryOptions({
  queryKey: ["policy-sources"],
  queryFn: ({ signal }) => policySources.read(signal),
});
