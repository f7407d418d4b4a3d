/** Commands of ⌘K and the single keys, on every page. */
import { createSpotlight } from "@mantine/spotlight";
import { useMatch, useNavigate } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { tabsOf } from "@/entities/runs/objective";
import { runQuery } from "@/entities/runs/queries";
import { RUN_TABS } from "@/entities/runs/search";
import { humanize } from "@/lib/format";
import { focusControls } from "./focus";
import { NAV } from "./nav";

/** What knows whether the search is open: it is opened before its code has come. */
export const [searchStore, search] = createSpotlight();

export interface Command {
  /** The keys that are pressed one after the other. */
  keys: string;
  label: string;
  run: () => void;
}

/** The run whose page is open. */
export function useOpenRun(): string | undefined {
  return useMatch({ from: "/app/runs/$runId", shouldThrow: false })?.params.runId;
}

/** Everything that has keys on this page. Each page of the navigation is `g` and its first letter that is free. */
export function useCommands(): Command[] {
  const navigate = useNavigate();
  const runId = useOpenRun();
  const run = useQuery({ ...runQuery(runId ?? ""), enabled: false }).data; // which its page loads
  const pages = NAV.map(({ to, label, key }) => ({
    keys: `g ${key}`,
    label: `Go to ${label.toLowerCase()}`,
    run: () => void navigate({ to }),
  }));
  const everywhere = [
    ...pages,
    { keys: "n", label: "New run", run: () => void navigate({ to: "/runs/new" }) },
    { keys: "/", label: "Search or jump to", run: search.open },
  ];
  if (runId === undefined) return everywhere;
  const tabs = (run ? tabsOf(run) : RUN_TABS).map((tab, index) => ({
    keys: String(index + 1),
    label: `${humanize(tab)} of this run`,
    run: () =>
      void navigate({
        to: "/runs/$runId",
        params: { runId },
        search: previous => ({ ...previous, tab: tab === "charts" ? undefined : tab }),
      }),
  }));
  return [...everywhere, ...tabs, { keys: "s", label: "Steer this run", run: () => focusControls() }];
}
