import { bench } from "@/api/client";
import { queryOptions } from "@tanstack/react-query";

/** Bench jobs of the team, without samples and results. */
export const benchesQuery = queryOptions({
  queryKey: ["benches"],
  queryFn: ({ signal }) => bench.list(signal),
});

const OPEN = ["queued", "running"];

/** One job; asked for again and again until it has ended. One that is gone is not asked for again. */
export const benchQuery = (id: string) =>
  queryOptions({
    queryKey: ["benches", id],
    queryFn: ({ signal }) => bench.read(id, signal),
    refetchInterval: ({ state }) => (state.data && OPEN.includes(state.data.state) ? 700 : false),
  });
