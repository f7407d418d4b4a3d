/** A bench job from its queue to its results. */
import { Alert, Group, Loader, Paper, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { BenchJob } from "@/api/model";
import { onCluster } from "@/entities/clusters/words";
import { formatAgo, formatDuration } from "@/lib/format";
import { useNow } from "@/lib/useNow";
import { Loaded } from "@/ui/Loaded";
import { Placeholder } from "@/ui/Placeholder";
import { TableSkeleton } from "@/ui/TableSkeleton";
import { BenchResults } from "./BenchResults";
import { benchQuery } from "./queries";

export function BenchJobView({ id }: { id: string }) {
  const query = useQuery(benchQuery(id));
  return (
    <Loaded query={query} skeleton={<Placeholder height={260} />}>
      {job => <Job job={job} />}
    </Loaded>
  );
}

function Job({ job }: { job: BenchJob }) {
  return (
    <Stack gap="md" data-testid="bench-job" data-state={job.state}>
      {job.state === "failed" && (
        <Alert color="red" icon={<IconAlertTriangle size={18} />} title="Scoring failed" role="alert">
          <Text size="sm">{job.error ?? "The worker gave no reason."}</Text>
          <Text size="xs" mt={4}>
            {job.tries === 1 ? "One worker has" : `${job.tries} workers have`} tried it. Score the samples again to
            retry.
          </Text>
        </Alert>
      )}
      {(job.state === "queued" || job.state === "running") && <Waiting job={job} />}
      {job.state === "done" && <BenchResults job={job} />}
    </Stack>
  );
}

/** The cluster's progress and its duration, to tell slow from stuck. */
function Waiting({ job }: { job: BenchJob }) {
  const now = useNow();
  const since = (Date.parse(job.started_at ?? job.created_at) || now) / 1000;
  const age = formatDuration(Math.max(0, Math.floor(now / 1000 - since)));
  return (
    <>
      <Paper p="md" role="status">
        <Group gap="sm" wrap="nowrap">
          <Loader size={18} />
          <div>
            <Text size="sm" fw={550}>
              {job.state === "queued" ? "Waiting for a worker" : `Scoring ${job.samples.length} samples`} · {age}
              {onCluster(job.placed_on)}
            </Text>
            <Text size="xs" c="dimmed">
              {job.state === "queued"
                ? `Requested ${formatAgo(job.created_at, now)}. Retried if no worker accepts it.`
                : `Each score may take up to ${formatDuration(job.timeout_s)}${job.tries > 1 ? `; try ${job.tries} of 3` : ""}.`}
            </Text>
          </div>
        </Group>
      </Paper>
      <TableSkeleton rows={Math.min(10, Math.max(3, job.samples.length))} />
    </>
  );
}
