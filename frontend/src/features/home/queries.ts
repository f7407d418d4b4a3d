import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";

const EVERY_MS = 10_000;

/** All of the home page in one response, so that a failed part does not look empty. */
export const homeQuery = queryOptions({
  queryKey: ["home"],
  queryFn: ({ signal }) => api.getHome({ signal }),
  refetchInterval: EVERY_MS,
});
