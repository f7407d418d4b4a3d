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
import type { RunState } from "@/api/model";
import { datasetSearch } from "@/entities/datasets/search";
import { reportSearch } from "@/entities/reports/search";
import { rewardSearch } from "@/entities/rewards/search";
import { type BatchSearch, batchSearch } from "@/entities/runs/batch";
import { type Objective, OBJECTIVES } from "@/entities/runs/objective";
import { compareSearch, runSearch } from "@/entities/runs/search";
import { sessionQuery } from "@/features/session/session";
import { Shell } from "@/features/shell/Shell";
import { oneOf, text } from "@/lib/search";
import { ErrorPage, NotFoundPage } from "@/ui/ErrorState";
import { queryClient } from "./queryClient";

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search): { next?: string; pass?: string; problem?: string } => ({
    next: text(search.next),
    pass: text(search.pass),
    problem: text(search.problem),
  }),
  component: lazyRouteComponent(() => import("@/features/session/SignInPage"), "SignInPage"),
});

/** Open to anyone with the link. The page itself checks who is signed in. */
const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$token",
  beforeLoad: ({ context }) => context.queryClient.ensureQueryData(sessionQuery),
  component: lazyRouteComponent(() => import("@/features/session/InvitationPage"), "InvitationPage"),
});

/** Every page of a signed-in person. */
const app = createRoute({
  getParentRoute: () => root,
  id: "app",
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (!session.authenticated) throw redirect({ to: "/sign-in", search: { next: location.href } });
    if (session.second_factor_missing && location.pathname !== "/account") throw redirect({ to: "/account" });
  },
  component: Shell,
});

const home = createRoute({
  getParentRoute: () => app,
  path: "/",
  component: lazyRouteComponent(() => import("@/features/home/HomePage"), "HomePage"),
});

const RUN_STATES = [
  "draft",
  "queued",
  "starting",
  "running",
  "paused",
  "suspended",
  "succeeded",
  "failed",
  "cancelled",
] as const;
const KINDS = OBJECTIVES.map(one => one.type);
const runs = createRoute({
  getParentRoute: () => app,
  path: "/runs",
  validateSearch: (search): { state?: RunState; objective?: Objective; q?: string } => ({
    state: oneOf(search.state, RUN_STATES),
    objective: oneOf(search.objective, KINDS),
    q: text(search.q),
  }),
  component: lazyRouteComponent(() => import("@/features/runs/list/RunsPage"), "RunsPage"),
});

const newRun = createRoute({
  getParentRoute: () => app,
  path: "/runs/new",
  validateSearch: (
    search,
  ): {
    recipe?: string;
    fork?: string;
    checkpoint?: string;
    dataset?: string;
    objective?: Objective;
  } & BatchSearch => ({
    recipe: text(search.recipe),
    objective: oneOf(search.objective, KINDS),
    fork: text(search.fork),
    checkpoint: text(search.checkpoint),
    dataset: text(search.dataset),
    ...batchSearch(search),
  }),
  component: lazyRouteComponent(() => import("@/features/runs/create/NewRunPage"), "NewRunPage"),
});

const compare = createRoute({
  getParentRoute: () => app,
  path: "/runs/compare",
  validateSearch: compareSearch,
  component: lazyRouteComponent(() => import("@/features/runs/compare/ComparePage"), "ComparePage"),
});

const run = createRoute({
  getParentRoute: () => app,
  path: "/runs/$runId",
  validateSearch: runSearch,
  component: lazyRouteComponent(() => import("@/features/runs/page/RunPage"), "RunPage"),
});

const reports = createRoute({
  getParentRoute: () => app,
  path: "/reports",
  component: lazyRouteComponent(() => import("@/features/reports/ReportsPage"), "ReportsPage"),
});
const report = createRoute({
  getParentRoute: () => app,
  path: "/reports/$reportId",
  validateSearch: reportSearch,
  component: lazyRouteComponent(() => import("@/features/reports/ReportPage"), "ReportPage"),
});

const rehearsal = createRoute({
  getParentRoute: () => app,
  path: "/rehearsals/$rehearsalId",
  component: lazyRouteComponent(() => import("@/features/rehearsals/RehearsalPage"), "RehearsalPage"),
});

const datasets = createRoute({
  getParentRoute: () => app,
  path: "/datasets",
  component: lazyRouteComponent(() => import("@/features/datasets/DatasetsPage"), "DatasetsPage"),
});
const dataset = createRoute({
  getParentRoute: () => app,
  path: "/datasets/$datasetId",
  validateSearch: datasetSearch,
  component: lazyRouteComponent(() => import("@/features/datasets/DatasetPage"), "DatasetPage"),
});
const datasetOffer = createRoute({
  getParentRoute: () => app,
  path: "/dataset-offers/$secret",
  component: lazyRouteComponent(() => import("@/features/datasets/sharing/OfferPage"), "OfferPage"),
});
const rewards = createRoute({
  getParentRoute: () => app,
  path: "/rewards",
  component: lazyRouteComponent(() => import("@/features/rewards/page/RewardsPage"), "RewardsPage"),
});
const newReward = createRoute({
  getParentRoute: () => app,
  path: "/rewards/new",
  component: lazyRouteComponent(() => import("@/features/rewards/page/NewRewardPage"), "NewRewardPage"),
});
const reward = createRoute({
  getParentRoute: () => app,
  path: "/rewards/$rewardId",
  validateSearch: rewardSearch,
  component: lazyRouteComponent(() => import("@/features/rewards/page/RewardPage"), "RewardPage"),
});
const policies = createRoute({
  getParentRoute: () => app,
  path: "/policies",
  component: lazyRouteComponent(() => import("@/features/policies/PoliciesPage"), "PoliciesPage"),
});
const policy = createRoute({
  getParentRoute: () => app,
  path: "/policies/$policyId",
  component: lazyRouteComponent(() => import("@/features/policies/PolicyPage"), "PolicyPage"),
});
const clusters = createRoute({
  getParentRoute: () => app,
  path: "/clusters",
  component: lazyRouteComponent(() => import("@/features/clusters/ClustersPage"), "ClustersPage"),
});
const TEAM_TABS = ["members", "tokens", "judges", "gpu-hours", "audit"] as const;
const team = createRoute({
  getParentRoute: () => app,
  path: "/team",
  validateSearch: (search): { tab?: (typeof TEAM_TABS)[number]; actor?: string; action?: string } => ({
    tab: oneOf(search.tab, TEAM_TABS),
    actor: text(search.actor),
    action: text(search.action),
  }),
  component: lazyRouteComponent(() => import("@/features/team/TeamPage"), "TeamPage"),
});
const account = createRoute({
  getParentRoute: () => app,
  path: "/account",
  component: lazyRouteComponent(() => import("@/features/account/AccountPage"), "AccountPage"),
});
/** Unknown addresses, shown with the navigation. */
const nowhere = createRoute({ getParentRoute: () => app, path: "$", component: NotFoundPage });

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    invitation,
    app.addChildren([
      home,
      runs,
      newRun,
      compare,
      run,
      reports,
      report,
      rehearsal,
      datasets,
      dataset,
      datasetOffer,
      rewards,
      newReward,
      reward,
      policies,
      policy,
      clusters,
      team,
      account,
      nowhere,
    ]),
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
