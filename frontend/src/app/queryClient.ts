import { QueryClient } from "@tanstack/react-query";
import { Problem } from "@/api/http";

/** Client errors are final. Only a lost connection or a server error is retried. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // Without a network a change fails at once and says so: it is never sent later, when nobody expects it any more.
    mutations: { networkMode: "always" },
    queries: {
      staleTime: 10_000,
      retry: (count, error) => !(error instanceof Problem && error.status < 500) && count < 3,
      refetchOnWindowFocus: true,
    },
  },
});
