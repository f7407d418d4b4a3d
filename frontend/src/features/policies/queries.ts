import { queryOptions } from "@tanstack/react-query";
import { get } from "@/api/http";
import type { List, Policy } from "@/api/model";

export const policiesQuery = queryOptions({
  queryKey: ["policies"],
  queryFn: ({ signal }) => get<List<Policy>>("/policies", { limit: 100 }, signal),
});
