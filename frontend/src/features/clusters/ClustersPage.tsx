/** The clusters that runs train on: sizes, free slots, and queued runs. */
import { Alert, Badge, Group, Paper, Text, Title } from "@mantine/core";
import { IconServer2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Cluster } from "@/api/model";
import { clustersQuery } from "@/entities/clusters/queries";
import { cpusText, gpusText, growthText, memoryText, placesText } from "@/entities/clusters/words";
import { runsQuery } from "@/entities/runs/queries";
import { DASH, formatAgo } from "@/lib/format";
import { useNow } from "@/lib/useNow";
import { EmptyState } from "@/ui/EmptyState";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { StateBadge } from "@/ui/StateBadge";
import { TextLink } from "@/ui/TextLink";
import ui from "@/ui/ui.module.css";

const STATES: Record<Cluster["state"], { color: string; text: string }> = {
  up: { color: "green", text: "up" },
  silent: { color: "yellow", text: "not responding" },
  unknown: { color: "gray", text: "not seen yet" },
  fault: { color: "red", text: "faulty" },
};

export function ClustersPage() {
  const clusters = useQuery(clustersQuery);
  const waiting = useQuery({ ...runsQuery("queued"), refetchInterval: 10_000 });
  useEffect(() => {
    document.title = "Clusters · Dressage";
  }, []);
  return (
    <>
      <PageHeader title="Clusters" description="Where runs train, and which runs are queued." />
      <Loaded query={clusters}>
        {({ data: rows }) => (
          <div className={ui.cards}>
            {rows.map(cluster => (
              <ClusterCard key={cluster.name} cluster={cluster} />
            ))}
          </div>
        )}
      </Loaded>
      <Title order={2} mt="lg" mb="sm">
        Queued runs
      </Title>
      <Loaded query={waiting}>{({ data: rows }) => <WaitingRuns runs={rows} />}</Loaded>
    </>
  );
}

function ClusterCard({ cluster }: { cluster: Cluster }) {
  const now = useNow(10_000);
  const state = STATES[cluster.state];
  const growth = growthText(cluster);
  return (
    <Paper p="md" component="article" aria-label={`Cluster ${cluster.name}`} data-testid="cluster-card">
      <Group justify="space-between" gap="xs" mb="sm" wrap="nowrap">
        <Title order={2} style={{ overflowWrap: "anywhere" }}>
          {cluster.name}
        </Title>
        <Badge color={state.color} style={{ flexShrink: 0 }}>
          {state.text}
        </Badge>
      </Group>
      {cluster.fault !== null && (
        <Alert color="red" mb="sm" title="Size unknown">
          {cluster.fault}
        </Alert>
      )}
      <Facts
        facts={[
          ["Slots", placesText(cluster)],
          ["GPUs", gpusText(cluster)],
          ["CPUs", cpusText(cluster)],
          ["Memory", memoryText(cluster)],
          ["Nodes", cluster.nodes],
          ["Last seen", cluster.last_seen === null ? "never" : formatAgo(cluster.last_seen, now)],
          ...(growth === null ? [] : ([["Autoscaling", growth]] as [string, string][])),
          ["Ray", cluster.ray_version ?? DASH],
        ]}
      />
      {cluster.own.length > 0 && (
        <>
          <Text size="xs" c="dimmed" mt="sm">
            Your runs
          </Text>
          {cluster.own.map(run => (
            <Group key={run.id} gap="xs" mt={4}>
              <TextLink to="/runs/$runId" params={{ runId: run.id }}>
                {run.name}
              </TextLink>
              <StateBadge state={run.state} />
            </Group>
          ))}
        </>
      )}
    </Paper>
  );
}

function WaitingRuns({ runs }: { runs: { id: string; name: string; state_reason: string }[] }) {
  if (runs.length === 0)
    return (
      <EmptyState icon={<IconServer2 size={40} stroke={1.3} />} title="No queued runs">
        Runs that wait for a free slot appear here, with the reason.
      </EmptyState>
    );
  return (
    <Paper p="md" component="ul" m={0} style={{ listStyle: "none" }} data-testid="waiting-runs">
      {runs.map(run => (
        <li key={run.id} style={{ padding: "4px 0" }}>
          <TextLink to="/runs/$runId" params={{ runId: run.id }}>
            {run.name}
          </TextLink>
          <Text size="sm" c="dimmed">
            {run.state_reason}
          </Text>
        </li>
      ))}
    </Paper>
  );
}
