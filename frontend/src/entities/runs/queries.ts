import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";
import { worstTokensOf } from "@/api/events";
import type { JsonSchema, MetricName, Recipe, RunState, Target, XAxis } from "@/api/model";
import { fetchInOrder } from "@/lib/updates";
import { mergeControls, mergeRun } from "./merge";
import { mergeMetrics } from "./points";
import { requestMetrics, requestNames } from "./requestMetrics";
import { requestRun } from "./requestRun";
import { addSteps, SHOWN_STEPS, spansTopic, stepSpans } from "./timeline";

export const runsQuery = (state?: RunState) =>
  queryOptions({
    queryKey: ["runs", { state: state ?? null }],
    queryFn: ({ signal }) =>
      fetchInOrder(
        () => api.listRuns({ limit: 100, state }, { signal }),
        (list, since) => ({ ...list, data: list.data.map(run => mergeRun(run, since)) }),
      ),
    placeholderData: keepPreviousData,
  });

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id],
    queryFn: ({ signal }) => fetchInOrder(() => requestRun(id, signal), mergeRun),
  });

export const controlsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "controls"],
    queryFn: ({ signal }) =>
      fetchInOrder(
        () => api.listControls(id, { limit: 200 }, { signal }),
        (list, since) => mergeControls(id, list, since),
      ),
  });

export const curriculumQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "curriculum"],
    queryFn: ({ signal }) => api.getCurriculum(id, { signal }),
  });

export const targetsQuery = (id: string, revision: number) =>
  queryOptions({
    queryKey: ["run", id, "targets", revision],
    queryFn: ({ signal }) => api.listTargets(id, { signal }),
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
    queryFn: ({ signal }) => requestNames(id, signal),
    select: (found): string[] => found.map(one => one.name),
  });

/** The same, with the registry entry of each. */
export const metricEntriesQuery = (id: string) =>
  queryOptions({ ...metricNamesQuery(id), select: (found): MetricName[] => found });

/** Key of the drawn metrics; the stream writes into the one without a window. */
export const metricsKey = (id: string, { x, from, to }: Window) =>
  ["run", id, "metrics", x, from ?? null, to ?? null] as const;

export const metricsQuery = (id: string, keys: string[], window: Window) =>
  queryOptions({
    queryKey: [...metricsKey(id, window), keys.join(",")],
    queryFn: ({ client, signal }) => {
      const request = () => requestMetrics(id, keys, { max_points: MAX_POINTS, ...window }, signal);
      const zoomed = window.from !== undefined || window.to !== undefined;
      return zoomed ? request() : fetchInOrder(request, (data, since) => mergeMetrics(client, id, keys, data, since));
    },
    enabled: keys.length > 0,
    staleTime: Infinity, // the stream keeps it fresh
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  });

export interface RolloutFilter {
  step?: number;
  source?: string;
  prompt?: string;
  min?: number;
}

export const rolloutsQuery = (id: string, filter: RolloutFilter) =>
  infiniteQueryOptions({
    queryKey: ["run", id, "rollouts", filter],
    queryFn: ({ signal, pageParam }) =>
      api.listRollouts(
        id,
        {
          step: filter.step,
          source: filter.source,
          prompt_id: filter.prompt,
          min_reward: filter.min,
          limit: 64,
          after: pageParam ?? undefined,
        },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
    placeholderData: keepPreviousData,
  });

/** All kinds except those that arrive with every step. */
const EVERY_KIND = "state,desired,control,eval,rubric_proposals,checkpoint,alert,log,run";

export const eventsQuery = (id: string, kind?: string) =>
  infiniteQueryOptions({
    queryKey: ["run", id, "events", kind ?? null],
    queryFn: ({ signal, pageParam }) =>
      api.listEvents(
        id,
        { kind: kind ?? EVERY_KIND, limit: 100, ...(pageParam === null ? {} : { after: Number(pageParam) }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: page => (page.has_more ? page.next : null),
  });

/** The tokens of the last step on which engine and learner disagree most. */
export const worstTokensQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "rollouts", "worst"],
    queryFn: async ({ signal }) => {
      const found = await api.listEvents(id, { kind: "rollouts", limit: 1 }, { signal });
      const event = found.data[0];
      return { step: event?.step ?? null, tokens: event ? worstTokensOf(event) : [] };
    },
  });

export const timelineQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "timeline"],
    queryFn: ({ signal }) => {
      const request = async () => {
        const found = await api.listEvents(id, { kind: "step", limit: SHOWN_STEPS }, { signal });
        return addSteps(
          [],
          found.data.map(stepSpans).filter(one => one !== null),
        );
      };
      return fetchInOrder(request, (steps, since) => addSteps(steps, since(spansTopic(id))));
    },
    staleTime: Infinity, // the stream keeps it fresh
  });

export const checkpointsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "checkpoints"],
    queryFn: ({ signal }) => api.listCheckpoints(id, { limit: 200 }, { signal }),
  });

/** Polled every second while one is in progress. */
export const exportsQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run, "exports"],
    queryFn: ({ signal }) => api.listCheckpointExports({ run, limit: 50 }, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.data.some(row => row.state === "queued" || row.state === "running") ? 1000 : false,
  });

export const specSchemaQuery = queryOptions({
  queryKey: ["spec", "schema"],
  queryFn: ({ signal }) => api.getSpecSchema({ signal }) as Promise<JsonSchema>,
  staleTime: Infinity,
});

export const recipesQuery = queryOptions({
  queryKey: ["spec", "recipes"],
  queryFn: ({ signal }) => api.listRecipes({ signal }),
  select: (found): Recipe[] => found.data,
  staleTime: Infinity,
});
