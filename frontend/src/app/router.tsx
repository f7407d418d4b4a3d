/** Routes. View state (filters, zoom, tabs) lives in typed search parameters, so that a link shows what its sender saw. */
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import type { RunState, XAxis } from "@/api/model";
import { sessionQuery } from "@/features/session/session";
import { Shell } from "@/features/shell/Shell";
import { ErrorPage, NotFoundPage } from "@/ui/ErrorState";
import { queryClient } from "./queryClient";

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value ? value : typeof value === "number" ? String(value) : undefined;
const number = (value: unknown): number | undefined => {
  const found = typeof value === "string" ? Number(value) : value;
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
};
function oneOf<T extends string>(value: unknown, allowed: readonly T[]): T | undefined {
  return allowed.find(candidate => candidate === value);
}

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search): { next?: string } => ({ next: text(search.next) }),
  component: lazyRouteComponent(() => import("@/features/session/SignInPage"), "SignInPage"),
});

/** Every page of a signed-in person. */
const app = createRoute({
  getParentRoute: () => root,
  id: "app",
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (!session.authenticated) throw redirect({ to: "/sign-in", search: { next: location.href } });
  },
  component: Shell,
});

const home = createRoute({
  getParentRoute: () => app,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs" });
  },
});

const RUN_STATES = ["draft", "queued", "starting", "running", "paused", "succeeded", "failed", "cancelled"] as const;
const runs = createRoute({
  getParentRoute: () => app,
  path: "/runs",
  validateSearch: (search): { state?: RunState; q?: string } => ({
    state: oneOf(search.state, RUN_STATES),
    q: text(search.q),
  }),
  component: lazyRouteComponent(() => import("@/features/runs/RunsPage"), "RunsPage"),
});

const newRun = createRoute({
  getParentRoute: () => app,
  path: "/runs/new",
  validateSearch: (search): { recipe?: string; fork?: string; checkpoint?: string } => ({
    recipe: text(search.recipe),
    fork: text(search.fork),
    checkpoint: text(search.checkpoint),
  }),
  component: lazyRouteComponent(() => import("@/features/runs/NewRunPage"), "NewRunPage"),
});

export const RUN_TABS = ["charts", "rollouts", "events", "controls", "checkpoints", "config"] as const;
export type RunTab = (typeof RUN_TABS)[number];
const X_AXES = ["step", "time", "tokens"] as const;

export interface RunSearch {
  tab?: RunTab;
  x?: XAxis;
  smooth?: number;
  from?: number;
  to?: number;
  /** Filters of the rollouts table. */
  step?: number;
  source?: string;
  min?: number;
  group?: string;
  kind?: string;
}

const run = createRoute({
  getParentRoute: () => app,
  path: "/runs/$runId",
  validateSearch: (search): RunSearch => ({
    tab: oneOf(search.tab, RUN_TABS),
    x: oneOf(search.x, X_AXES),
    smooth: number(search.smooth),
    from: number(search.from),
    to: number(search.to),
    step: number(search.step),
    source: text(search.source),
    min: number(search.min),
    group: text(search.group),
    kind: text(search.kind),
  }),
  component: lazyRouteComponent(() => import("@/features/runs/RunPage"), "RunPage"),
});

const datasets = createRoute({
  getParentRoute: () => app,
  path: "/datasets",
  component: lazyRouteComponent(() => import("@/features/datasets/DatasetsPage"), "DatasetsPage"),
});
const dataset = createRoute({
  getParentRoute: () => app,
  path: "/datasets/$datasetId",
  validateSearch: (search): { version?: number; after?: number } => ({
    version: number(search.version),
    after: number(search.after),
  }),
  component: lazyRouteComponent(() => import("@/features/datasets/DatasetPage"), "DatasetPage"),
});
const rewards = createRoute({
  getParentRoute: () => app,
  path: "/rewards",
  component: lazyRouteComponent(() => import("@/features/rewards/RewardsPage"), "RewardsPage"),
});
const newReward = createRoute({
  getParentRoute: () => app,
  path: "/rewards/new",
  component: lazyRouteComponent(() => import("@/features/rewards/NewRewardPage"), "NewRewardPage"),
});
export const REWARD_TABS = ["definition", "bench", "proposals", "versions"] as const;
export type RewardTab = (typeof REWARD_TABS)[number];

export interface RewardSearch {
  version?: number;
  tab?: RewardTab;
  /** Stored rollouts that the bench starts with: a run, and ids with commas between. */
  run?: string;
  rollouts?: string;
  /** The bench job on show. */
  job?: string;
  show?: string;
  /** Proposals of this state. */
  state?: string;
}

const reward = createRoute({
  getParentRoute: () => app,
  path: "/rewards/$rewardId",
  validateSearch: (search): RewardSearch => ({
    version: number(search.version),
    tab: oneOf(search.tab, REWARD_TABS),
    run: text(search.run),
    rollouts: text(search.rollouts),
    job: text(search.job),
    show: text(search.show),
    state: text(search.state),
  }),
  component: lazyRouteComponent(() => import("@/features/rewards/RewardPage"), "RewardPage"),
});
const policies = createRoute({
  getParentRoute: () => app,
  path: "/policies",
  component: lazyRouteComponent(() => import("@/features/policies/PoliciesPage"), "PoliciesPage"),
});
const TEAM_TABS = ["members", "tokens", "judges", "audit"] as const;
const team = createRoute({
  getParentRoute: () => app,
  path: "/team",
  validateSearch: (search): { tab?: (typeof TEAM_TABS)[number] } => ({ tab: oneOf(search.tab, TEAM_TABS) }),
  component: lazyRouteComponent(() => import("@/features/team/TeamPage"), "TeamPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    app.addChildren([home, runs, newRun, run, datasets, dataset, rewards, newReward, reward, policies, team]),
  ]),
  context: { queryClient },
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: ErrorPage,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
