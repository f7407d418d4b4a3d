/** A run: header, phase strip, tabs, and the control rail next to them (a sheet from below on narrow screens). */
import { Badge, Button, Drawer, Skeleton, Stack, Tabs } from "@mantine/core";
import { useDisclosure, useMediaQuery, useNetwork } from "@mantine/hooks";
import { IconAdjustmentsHorizontal } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Suspense } from "react";
import type { Run } from "@/api/model";
import { ChartsTab } from "@/features/charts/ChartsTab";
import { ControlRail } from "@/features/controls/ControlRail";
import { GuardsCard } from "@/features/guards/GuardsCard";
import { incidentsQuery } from "@/features/incidents/queries";
import { samples, tabsOf } from "@/entities/runs/objective";
import { runQuery } from "@/entities/runs/queries";
import type { RunTab } from "@/entities/runs/search";
import { isLive } from "@/entities/runs/states";
import { lostSince } from "@/features/stream/lostSince";
import { useRunStream } from "@/features/stream/useRunStream";
import { ConnectionLost } from "@/lib/connection";
import { humanize } from "@/lib/format";
import { reveal } from "@/lib/reveal";
import { ErrorState, isNotThere, NotFoundPage } from "@/ui/ErrorState";
import { lazily } from "@/ui/lazily";
import { TableSkeleton } from "@/ui/TableSkeleton";
import { LedgerLine } from "./LedgerLine";
import { PhaseStrip } from "./PhaseStrip";
import { RunHeader } from "./RunHeader";
import classes from "./page.module.css";

const RolloutsTab = lazily(() => import("@/features/rollouts/RolloutsTab").then(m => m.RolloutsTab));
const IncidentsTab = lazily(() => import("@/features/incidents/IncidentsTab").then(m => m.IncidentsTab));
const EventsTab = lazily(() => import("./EventsTab").then(m => m.EventsTab));
const ControlsTab = lazily(() => import("@/features/controls/ControlsTab").then(m => m.ControlsTab));
const CheckpointsTab = lazily(() => import("./CheckpointsTab").then(m => m.CheckpointsTab));
const ConfigTab = lazily(() => import("./ConfigTab").then(m => m.ConfigTab));
const Tour = lazily(() => import("@/features/tour/Tour").then(m => m.Tour));

export function RunPage() {
  const { runId } = useParams({ from: "/app/runs/$runId" });
  const { tab = "charts", tour } = useSearch({ from: "/app/runs/$runId" });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const [sheet, { open, close }] = useDisclosure(false);
  const wide = useMediaQuery("(min-width: 62em)", true);
  const stream = useRunStream(runId);
  const { online } = useNetwork();
  const query = useQuery({
    ...runQuery(runId),
    // The age of the worker's lease moves although nothing happens.
    refetchInterval: ({ state }) => (state.data && !isLive(state.data.state) ? false : 10_000),
  });
  if (query.isPending) return <PageSkeleton />;
  if (isNotThere(query.error)) return <NotFoundPage />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  const run = query.data;
  const tabs = tabsOf(run);
  const lost = lostSince(stream, online, query.dataUpdatedAt);
  const show = (selector: string) => {
    if (!wide) open();
    reveal(selector);
  };
  return (
    <ConnectionLost value={lost !== null}>
      {wide && (
        <a href="#controls" className="skip-link">
          Skip to the controls
        </a>
      )}
      <RunHeader run={run} />
      <PhaseStrip run={run} lostSince={lost} updatedAt={query.dataUpdatedAt} />
      {wide && <LedgerLine run={run} />}
      <div className={classes.body}>
        <Tabs
          value={tabs.includes(tab) ? tab : "charts"}
          onChange={next =>
            void navigate({
              search: previous => ({ ...previous, tab: next === "charts" ? undefined : (next as RunTab) }),
            })
          }
          keepMounted={false}
        >
          <Tabs.List mb={6} style={{ flexWrap: "nowrap", overflowX: "auto", overflowY: "hidden" }}>
            {tabs.map(one => (
              <Tabs.Tab key={one} value={one}>
                {humanize(one)}
                {one === "incidents" && <OpenIncidents run={run} />}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Suspense fallback={<TableSkeleton />}>
            <Tabs.Panel value="charts">
              <ChartsTab run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="incidents">
              <IncidentsTab run={run} onShow={show} />
            </Tabs.Panel>
            <Tabs.Panel value="rollouts">
              <RolloutsTab run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="events">
              <EventsTab run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="controls">
              <ControlsTab run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="checkpoints">
              <CheckpointsTab run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="config">
              <ConfigTab run={run} />
            </Tabs.Panel>
          </Suspense>
          {/* Above the charts of a phone it would take the place of one. */}
          {!wide && <LedgerLine run={run} />}
        </Tabs>
        {wide ? (
          <aside id="controls" tabIndex={-1} className={classes.rail} aria-label="Controls">
            <Steering run={run} />
          </aside>
        ) : (
          <>
            <div className={classes.mobileBar}>
              <Button leftSection={<IconAdjustmentsHorizontal size={16} />} onClick={open} data-testid="open-controls">
                Steer this run
              </Button>
            </div>
            <Drawer opened={sheet} onClose={close} position="bottom" size="82%" title="Steer this run" radius="md">
              <Steering run={run} />
            </Drawer>
          </>
        )}
      </div>
      {tour !== undefined && samples(run) && (
        <Suspense fallback={null}>
          <Tour
            run={run}
            at={tour}
            onGo={(at, place) =>
              void navigate({ search: previous => ({ ...previous, tour: at, tab: place }), resetScroll: false })
            }
          />
        </Suspense>
      )}
    </ConnectionLost>
  );
}

function Steering({ run }: { run: Run }) {
  return (
    <Stack gap="sm">
      <ControlRail run={run} />
      <GuardsCard run={run} />
    </Stack>
  );
}

/** The number of open incidents; nothing if there are none. */
function OpenIncidents({ run }: { run: Run }) {
  const { data } = useQuery(incidentsQuery(run));
  if (!data || data.open === 0) return null;
  return (
    <Badge ml={6} size="xs" circle color={run.health.state === "warn" ? "yellow" : "red"} data-testid="incidents-open">
      {data.open}
    </Badge>
  );
}

function PageSkeleton() {
  return (
    <Stack aria-busy="true" aria-label="Loading">
      <Skeleton height={30} width={320} />
      <Skeleton height={52} />
      <Skeleton height={420} />
    </Stack>
  );
}
