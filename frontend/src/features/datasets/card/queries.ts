import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";

/** Who may own a dataset. */
export const ownersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => api.listMembers({ limit: 200 }, { signal }),
});
