import { queryOptions } from "@tanstack/react-query";
import { team } from "@/api/client";

/** Who may own a dataset. */
export const ownersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => team.members(signal),
});
