/** The home page: what needs attention, active and queued runs, costs, and recent models. */
import { Button, Group, SimpleGrid, Skeleton, Stack } from "@mantine/core";
import { IconPlus, IconRoute } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Home } from "@/api/model";
import { DemoRunButton } from "@/features/runs/parts/DemoRunButton";
import { useCan } from "@/features/session/session";
import { EmptyState } from "@/ui/EmptyState";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { Approvals, Attention } from "./Attention";
import { homeQuery } from "./queries";
import { Recent } from "./Recent";
import { Queue, Running } from "./Running";
import { Spend } from "./Spend";

export function HomePage() {
  const home = useQuery(homeQuery);
  const editor = useCan("editor");
  return (
    <>
      <PageHeader
        title="Home"
        actions={
          editor &&
          home.data?.has_runs && (
            <Button component={Link} to="/runs/new" leftSection={<IconPlus size={15} />}>
              New run
            </Button>
          )
        }
      />
      <Loaded query={home} skeleton={<Skeleton height={420} />}>
        {data => (data.has_runs ? <Parts home={data} /> : <Newcomer editor={editor} />)}
      </Loaded>
    </>
  );
}

function Parts({ home }: { home: Home }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" data-testid="home">
      <Stack gap="md" miw={0}>
        <Attention found={home.attention} />
        <Approvals found={home.approvals} />
        <Running runs={home.running} />
      </Stack>
      <Stack gap="md" miw={0}>
        <Queue runs={home.queued} />
        <Spend spend={home.spend} />
        <Recent checkpoints={home.checkpoints} policies={home.policies} />
      </Stack>
    </SimpleGrid>
  );
}

function Newcomer({ editor }: { editor: boolean }) {
  return (
    <EmptyState
      icon={<IconRoute size={40} stroke={1.3} />}
      title="Start a first run"
      action={
        editor && (
          <Group justify="center">
            <DemoRunButton />
            <Button variant="default" component={Link} to="/runs/new">
              Start from a preset
            </Button>
          </Group>
        )
      }
    >
      A run trains a policy on your prompts and your reward. The demo run shows it in a few minutes: a small policy
      discovers that thinking pays. Alerts, active runs and costs appear here.
    </EmptyState>
  );
}
