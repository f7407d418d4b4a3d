import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get, send } from "@/api/http";
import type {
  Checkpoint,
  Control,
  List,
  MetricData,
  Recipe,
  Rollout,
  Run,
  RunEvent,
  RunState,
  Spec,
  Target,
  Validation,
  XAxis,
} from "@/api/model";
import type { JsonSchema } from "@/features/schema-form/schema";

export const runsQuery = (state?: RunState) =>
  queryOptions({
    queryKey: ["runs", { state: state ?? null }],
    queryFn: ({ signal }) => get<List<Run>>("/runs", { state, limit: 100 }, signal),
    placeholderData: keepPreviousData,
  });

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id],
    queryFn: ({ signal }) => get<Run>(`/runs/${id}`, undefined, signal),
  });

export const controlsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "controls"],
    queryFn: ({ signal }) => get<List<Control>>(`/runs/${id}/controls`, { limit: 200 }, signal),
  });

export const targetsQuery = (id: string, revision: number) =>
  queryOptions({
    queryKey: ["run", id, "targets", revision],
    queryFn: ({ signal }) => get<{ data: Target[] }>(`/runs/${id}/targets`, undefined, signal),
    select: (found): Target[] => found.data,
    placeholderData: keepPreviousData,
  });

export const MAX_POINTS = 600;

export interface Window {
  x: XAxis;
  from?: number;
  to?: number;
}

export const metricNamesQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "metric-names"],
    queryFn: ({ signal }) => get<{ data: { name: string }[] }>(`/runs/${id}/metrics/names`, undefined, signal),
    select: (found): string[] => found.data.map(one => one.name),
  });

/** Key of the drawn metrics; the stream writes into the one without a window. */
export const metricsKey = (id: string, { x, from, to }: Window) =>
  ["run", id, "metrics", x, from ?? null, to ?? null] as const;

export const metricsQuery = (id: string, keys: string[], window: Window) =>
  queryOptions({
    queryKey: [...metricsKey(id, window), keys.join(",")],
    queryFn: ({ signal }) =>
      get<MetricData>(`/runs/${id}/metrics`, { keys: keys.join(","), max_points: MAX_POINTS, ...window }, signal),
    enabled: keys.length > 0,
    staleTime: Infinity, // the stream keeps it fresh
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  });

export interface RolloutFilter {
  step?: number;
  source?: string;
  min?: number;
}

export const rolloutsQuery = (id: string, filter: RolloutFilter) =>
  infiniteQueryOptions({
    queryKey: ["run", id, "rollouts", filter],
    queryFn: ({ signal, pageParam }) =>
      get<List<Rollout>>(
        `/runs/${id}/rollouts`,
        { step: filter.step, source: filter.source, min_reward: filter.min, limit: 64, after: pageParam ?? undefined },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
    placeholderData: keepPreviousData,
  });

export const eventsQuery = (id: string, kind?: string) =>
  infiniteQueryOptions({
    queryKey: ["run", id, "events", kind ?? null],
    queryFn: ({ signal, pageParam }) =>
      get<List<RunEvent>>(`/runs/${id}/events`, { kind, limit: 100, after: pageParam ?? undefined }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
  });

export const checkpointsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "checkpoints"],
    queryFn: ({ signal }) => get<List<Checkpoint>>(`/runs/${id}/checkpoints`, { limit: 100 }, signal),
  });

export const specSchemaQuery = queryOptions({
  queryKey: ["spec", "schema"],
  queryFn: ({ signal }) => get<JsonSchema>("/spec/schema", undefined, signal),
  staleTime: Infinity,
});

export const recipesQuery = queryOptions({
  queryKey: ["spec", "recipes"],
  queryFn: ({ signal }) => get<{ data: Recipe[] } | Recipe[]>("/spec/recipes", undefined, signal),
  select: (found): Recipe[] => (Array.isArray(found) ? found : found.data),
  staleTime: Infinity,
});

export const validateSpec = (spec: Spec) => send<Validation>("POST", "/spec/validate", { spec });

export const createRun = (body: { name: string; spec: Spec; start: boolean }, key: string) =>
  send<Run>("POST", "/runs", body, { "Idempotency-Key": key });
