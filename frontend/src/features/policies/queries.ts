import { policies } from "@/api/client";
import { queryOptions } from "@tanstack/react-query";

export const policiesQuery = queryOptions({
  queryKey: ["policies"],
  queryFn: ({ signal }) => policies.list(signal),
});
