/** What ⌘K finds on the page of a run: its actions, metrics, steerable fields and checkpoints. */
import type { SpotlightActionGroupData } from "@mantine/spotlight";
import {
  IconAdjustmentsHorizontal,
  IconBookmark,
  IconChartLine,
  IconGitFork,
  IconLayoutNavbar,
  IconRoute,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { targetLabel } from "@/features/controls/labels";
import { samples, tabsOf } from "@/entities/runs/objective";
import { checkpointsQuery, metricEntriesQuery, runQuery, targetsQuery } from "@/entities/runs/queries";
import { isLive } from "@/entities/runs/states";
import { humanize } from "@/lib/format";
import { focusControls } from "./focus";

/** Groups about one run. */
export function useRunGroups(runId: string | undefined): SpotlightActionGroupData[] {
  const navigate = useNavigate();
  const id = runId ?? "";
  const enabled = runId !== undefined;
  const run = useQuery({ ...runQuery(id), enabled }).data;
  const live = run !== undefined && isLive(run.state);
  const metrics = useQuery({ ...metricEntriesQuery(id), enabled }).data ?? [];
  const targets = useQuery({ ...targetsQuery(id, run?.revision ?? 0), enabled: enabled && live }).data ?? [];
  const checkpoints = useQuery({ ...checkpointsQuery(id), enabled }).data?.data ?? [];
  if (runId === undefined || !run) return [];
  const open = (search: Record<string, unknown>) => void navigate({ to: "/runs/$runId", params: { runId }, search });
  const fork = (checkpoint?: string) => void navigate({ to: "/runs/new", search: { fork: runId, checkpoint } });
  const tour = {
    id: "tour",
    label: "Tour of this page",
    leftSection: <IconRoute size={16} />,
    onClick: () => open({ tour: 1 }),
  };
  return [
    {
      group: "This run",
      actions: [
        ...tabsOf(run).map(tab => ({
          id: `tab-${tab}`,
          label: `${humanize(tab)} of ${run.name}`,
          leftSection: <IconLayoutNavbar size={16} />,
          onClick: () => open({ tab: tab === "charts" ? undefined : tab }),
        })),
        ...(samples(run) ? [tour] : []),
        { id: "fork", label: `Fork ${run.name}`, leftSection: <IconGitFork size={16} />, onClick: () => fork() },
      ],
    },
    {
      group: "Steerable fields of this run",
      actions: targets.map(({ path }) => ({
        id: `knob-${path}`,
        label: targetLabel(path),
        description: path,
        leftSection: <IconAdjustmentsHorizontal size={16} />,
        // After the palette has closed and given the focus back.
        onClick: () => void setTimeout(() => focusControls(path), 250),
      })),
    },
    {
      group: "Metrics of this run",
      actions: metrics.map(({ name, title }) => ({
        id: `metric-${name}`,
        label: title || name,
        description: name,
        keywords: [name],
        leftSection: <IconChartLine size={16} />,
        onClick: () => open({ find: name }),
      })),
    },
    {
      group: "Checkpoints of this run",
      actions: checkpoints
        .filter(one => one.available !== false && !one.damaged)
        .map(({ id: checkpoint, step }) => ({
          id: checkpoint,
          label: `Fork from the checkpoint of step ${step}`,
          leftSection: <IconBookmark size={16} />,
          onClick: () => fork(checkpoint),
        })),
    },
  ];
}
