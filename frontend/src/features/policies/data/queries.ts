import { queryOptions } from "@tanstack/react-query";
import { policies } from "@/api/client";

export const policiesQuery = queryOptions({
  queryKey: ["policies"],
  queryFn: ({ signal }) => policies.list(signal),
});
