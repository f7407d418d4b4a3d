/** The command palette: pages, actions, the team's objects by name, and those of the open run. */
import { useMantineColorScheme } from "@mantine/core";
import { Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import {
  IconActivity,
  IconBrain,
  IconDatabase,
  IconFileText,
  IconKeyboard,
  IconMoon,
  IconPlus,
  IconSearch,
  IconSun,
  IconTarget,
  IconUpload,
} from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { datasetsQuery } from "@/entities/datasets/queries";
import { policiesQuery } from "@/entities/policies/queries";
import { textBlock, UNTITLED } from "@/entities/reports/blocks";
import { reportsQuery } from "@/entities/reports/queries";
import { useMakeReport } from "@/entities/reports/useMakeReport";
import { rewardsQuery } from "@/entities/rewards/queries";
import { runsQuery } from "@/entities/runs/queries";
import { useCan } from "@/features/session/session";
import { searchStore, useOpenRun } from "./commands";
import { NAV } from "./nav";
import { useRunGroups } from "./runGroups";

export function CommandPalette({ onHelp }: { onHelp: () => void }) {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const runs = useQuery(runsQuery());
  const datasets = useQuery(datasetsQuery);
  const rewards = useQuery(rewardsQuery);
  const policies = useQuery(policiesQuery);
  const reports = useInfiniteQuery(reportsQuery);
  const editor = useCan("editor");
  const make = useMakeReport();
  const ofRun = useRunGroups(useOpenRun());
  const actions: SpotlightActionGroupData[] = [
    {
      group: "Pages",
      actions: NAV.map(({ to, label, icon: Icon }) => ({
        id: to,
        label,
        leftSection: <Icon size={16} />,
        onClick: () => void navigate({ to }),
      })),
    },
    {
      group: "Actions",
      actions: [
        {
          id: "new-run",
          label: "New run",
          leftSection: <IconPlus size={16} />,
          onClick: () => void navigate({ to: "/runs/new" }),
        },
        {
          id: "upload",
          label: "Upload a dataset",
          leftSection: <IconUpload size={16} />,
          onClick: () => void navigate({ to: "/datasets" }),
        },
        {
          id: "new-reward",
          label: "New reward",
          leftSection: <IconPlus size={16} />,
          onClick: () => void navigate({ to: "/rewards/new" }),
        },
        ...(editor
          ? [
              {
                id: "new-report",
                label: "New report",
                leftSection: <IconPlus size={16} />,
                onClick: () => make.mutate({ title: UNTITLED, blocks: [textBlock()] }),
              },
            ]
          : []),
        { id: "keys", label: "Keyboard shortcuts", leftSection: <IconKeyboard size={16} />, onClick: onHelp },
        {
          id: "light",
          label: "Light theme",
          leftSection: <IconSun size={16} />,
          onClick: () => setColorScheme("light"),
        },
        { id: "dark", label: "Dark theme", leftSection: <IconMoon size={16} />, onClick: () => setColorScheme("dark") },
      ],
    },
    ...ofRun,
    {
      group: "Reports",
      actions: (reports.data?.pages.flatMap(page => page.data) ?? []).map(report => ({
        id: report.id,
        label: report.title,
        description: `by ${report.created_by}`,
        leftSection: <IconFileText size={16} />,
        onClick: () => void navigate({ to: "/reports/$reportId", params: { reportId: report.id } }),
      })),
    },
    {
      group: "Runs",
      actions: (runs.data?.data ?? []).map(run => ({
        id: run.id,
        label: run.name,
        description: `${run.state} · step ${run.step} of ${run.total_steps}`,
        keywords: [run.id, run.policy],
        leftSection: <IconActivity size={16} />,
        onClick: () => void navigate({ to: "/runs/$runId", params: { runId: run.id } }),
      })),
    },
    {
      group: "Datasets",
      actions: (datasets.data?.data ?? []).map(dataset => ({
        id: dataset.id,
        label: dataset.name,
        description: dataset.slug,
        leftSection: <IconDatabase size={16} />,
        onClick: () => void navigate({ to: "/datasets/$datasetId", params: { datasetId: dataset.id } }),
      })),
    },
    {
      group: "Rewards",
      actions: (rewards.data?.data ?? []).map(reward => ({
        id: reward.id,
        label: reward.name,
        description: reward.slug,
        leftSection: <IconTarget size={16} />,
        onClick: () => void navigate({ to: "/rewards/$rewardId", params: { rewardId: reward.id } }),
      })),
    },
    {
      group: "Policies",
      actions: (policies.data?.data ?? []).map(policy => ({
        id: policy.id,
        label: policy.name,
        description: policy.slug,
        leftSection: <IconBrain size={16} />,
        onClick: () => void navigate({ to: "/policies/$policyId", params: { policyId: policy.id } }),
      })),
    },
  ];
  return (
    <Spotlight
      store={searchStore}
      actions={actions}
      shortcut={null} // the shell's own, which is there before this is
      nothingFound="No results"
      highlightQuery
      scrollable
      maxHeight={420}
      limit={24}
      searchProps={{
        leftSection: <IconSearch size={17} />,
        placeholder: "Search runs, reports, datasets, rewards, policies, metrics, fields and actions",
        "aria-label": "Search",
      }}
    />
  );
}
