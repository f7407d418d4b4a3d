import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Spec, Validation } from "@/api/model";
import { faultsWithin } from "@/api/problems";

export interface Checked {
  validation: Validation | undefined;
  /** True while the answer belongs to an older document. */
  checking: boolean;
  error: unknown;
}

/** Asks the platform what it thinks of the spec, a moment after the last change. */
export function useValidation(spec: Spec): Checked {
  const [settled] = useDebouncedValue(spec, 350);
  const query = useQuery({
    queryKey: ["spec", "validate", settled],
    queryFn: () => api.validateSpec({ spec: settled }),
    placeholderData: keepPreviousData,
    gcTime: 60_000,
    staleTime: 30_000,
  });
  return {
    // Pointers count from the request's body; the form starts at its member `spec`.
    validation: query.data && { ...query.data, errors: faultsWithin("/spec", query.data.errors) },
    checking: settled !== spec || query.isFetching,
    error: query.error,
  };
}
