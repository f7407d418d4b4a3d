import { useMutation, type UseMutationOptions, type UseMutationResult } from "@tanstack/react-query";
import { useRef } from "react";

/**
 * A mutation that runs at most once at a time: what asks again in the meantime is dropped. A button that shows `isPending` is
 * disabled only with the next drawing, and the second click of a double click comes before it.
 */
export function useSubmit<TData, TError = Error, TVariables = void, TContext = unknown>(
  options: UseMutationOptions<TData, TError, TVariables, TContext>,
): UseMutationResult<TData, TError, TVariables, TContext> {
  const busy = useRef(false);
  const mutation = useMutation({
    ...options,
    onSettled: (...facts) => {
      busy.current = false;
      return options.onSettled?.(...facts);
    },
  });
  const mutate: typeof mutation.mutate = (...request) => {
    if (busy.current) return;
    busy.current = true;
    mutation.mutate(...request);
  };
  return { ...mutation, mutate };
}
