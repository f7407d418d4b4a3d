/**
 * What the page of the first address needs is requested at once. The router asks for one thing after the other: who is
 * signed in, then the page's code, which then asks for its data.
 */
import type { QueryClient } from "@tanstack/react-query";
import type { AnyRoute } from "@tanstack/react-router";
import { homeQuery } from "@/features/home/queries";
import { metricEntriesQuery, runQuery, runsQuery } from "@/entities/runs/queries";
import { comparedIds } from "@/entities/runs/search";
import { sessionQuery } from "@/features/session/session";
import type { router } from "./router";

/** Starts loading code and data for the address that the tab was opened with. The page requests again what fails. */
export function askAhead(pages: typeof router, client: QueryClient): void {
  void client.prefetchQuery(sessionQuery);
  for (const match of pages.matchRoutes(pages.latestLocation)) {
    const route: AnyRoute = pages.routesById[match.routeId as keyof typeof pages.routesById];
    void route.options.component?.preload?.();
    askForData(match, client);
  }
}

function askForData(match: ReturnType<(typeof router)["matchRoutes"]>[number], client: QueryClient): void {
  switch (match.routeId) {
    case "/app/":
      return void client.prefetchQuery(homeQuery);
    case "/app/runs":
      return void client.prefetchQuery(runsQuery(match.search.state));
    case "/app/runs/$runId":
      return askForRuns([match.params.runId], client);
    case "/app/runs/compare":
      return askForRuns(comparedIds(match.search), client);
  }
}

/** All at once, so that they go out as one request. */
function askForRuns(ids: string[], client: QueryClient): void {
  for (const id of ids) {
    void client.prefetchQuery(runQuery(id));
    void client.prefetchQuery(metricEntriesQuery(id));
  }
}
