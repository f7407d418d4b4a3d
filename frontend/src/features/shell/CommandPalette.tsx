/** ⌘K: pages, actions, and everything of the team by name. */
import { useMantineColorScheme } from "@mantine/core";
import { Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import {
  IconActivity,
  IconDatabase,
  IconMoon,
  IconPlus,
  IconSearch,
  IconSun,
  IconTarget,
  IconUpload,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { datasetsQuery } from "@/features/datasets/data/queries";
import { rewardsQuery } from "@/features/rewards/data/queries";
import { runsQuery } from "@/features/runs/data/queries";
import { NAV } from "./nav";

export function CommandPalette() {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const runs = useQuery(runsQuery());
  const datasets = useQuery(datasetsQuery);
  const rewards = useQuery(rewardsQuery);
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
          id: "light",
          label: "Light theme",
          leftSection: <IconSun size={16} />,
          onClick: () => setColorScheme("light"),
        },
        { id: "dark", label: "Dark theme", leftSection: <IconMoon size={16} />, onClick: () => setColorScheme("dark") },
      ],
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
  ];
  return (
    <Spotlight
      actions={actions}
      shortcut={["mod + K", "/"]}
      nothingFound="Nothing of this name"
      highlightQuery
      scrollable
      maxHeight={420}
      limit={24}
      searchProps={{
        leftSection: <IconSearch size={17} />,
        placeholder: "Search runs, datasets, rewards and actions",
        "aria-label": "Search",
      }}
    />
  );
}
