import { bench } from "@/api/client";
import { queryOptions } from "@tanstack/react-query";

/** Bench jobs of the team, without samples and results. */
export const benchesQuery = queryOptions({
  queryKey: ["benches"],
  queryFn: ({ signal }) => bench.list(signal),
});

const OPEN = ["queued", "running"];

/** One job; asked for again and again until it has ended. */
export const benchQuery = (id: string | undefined) =>
  queryOptions({
    queryKey: ["benches", id ?? null],
    queryFn: ({ signal }) => bench.read(id ?? "", signal),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (state.data && !OPEN.includes(state.data.state) ? false : 700),
  });
