import { Group, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { errorText } from "@/api/http";
import type { BenchJobRow, Reward } from "@/api/model";
import { onCluster } from "@/entities/clusters/words";
import { formatAgo } from "@/lib/format";
import { benchesQuery } from "./queries";

interface Props {
  reward: Reward;
  current: string | undefined;
  onPick: (job: string | undefined) => void;
}

/** Results of earlier benches of this reward: they stay for a month. */
export function EarlierJobs({ reward, current, onPick }: Props) {
  const jobs = useQuery(benchesQuery);
  const own = (jobs.data?.data ?? []).filter(job => concerns(job, reward));
  if (own.length === 0 && !jobs.isError) return null;
  return (
    <Group gap="xs">
      <Text size="xs" c="dimmed">
        Results of
      </Text>
      <Select
        size="xs"
        w={{ base: "100%", xs: 360 }}
        aria-label="Bench results"
        placeholder="an earlier bench"
        data={own.map(job => ({ value: job.id, label: describe(job) }))}
        value={own.some(job => job.id === current) ? (current ?? null) : null}
        onChange={next => onPick(next ?? undefined)}
        error={jobs.isError ? errorText(jobs.error) : undefined}
      />
    </Group>
  );
}

function concerns(job: BenchJobRow, reward: Reward): boolean {
  // A draft belongs to no reward until it is saved.
  return job.definitions.some(({ ref }) => ref === null || ref.startsWith(`${reward.slug}@`));
}

const SOURCES = { pasted: "pasted samples", dataset: "rows", run: "rollouts" };

function describe(job: BenchJobRow): string {
  const labels = job.definitions.map(one => one.label).join(" against ");
  const from = job.source.dataset ?? job.source.name ?? "";
  return `${labels} · ${[SOURCES[job.source.type], from].filter(Boolean).join(" of ")} · ${formatAgo(job.created_at)}${onCluster(job.placed_on)}`;
}
