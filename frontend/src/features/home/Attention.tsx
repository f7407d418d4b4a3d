/** Runs that need attention, and proposals that wait for a decision. */
import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Home } from "@/api/model";
import { HealthMark } from "@/ui/HealthMark";
import { StateBadge } from "@/ui/StateBadge";
import { Part } from "./Part";
import { RunName } from "./RunName";

export function Attention({ found }: { found: Home["attention"] }) {
  return (
    <Part title="Needs attention" empty="All runs healthy" testId="home-attention">
      {found.map(({ run, text }) => (
        <div key={run.id}>
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <RunName run={run} />
            <StateBadge state={run.state} />
          </Group>
          <HealthMark health={run.health} runId={run.id} />
          <Text size="xs" c="dimmed" lineClamp={3} title={text}>
            {text}
          </Text>
        </div>
      ))}
    </Part>
  );
}

/** Nothing if no decision waits. */
export function Approvals({ found }: { found: Home["approvals"] }) {
  if (found.length === 0) return null;
  return (
    <Part title="Waiting for approval" empty="" testId="home-approvals">
      {found.map(({ reward, name, open }) => (
        <Anchor key={reward} component={Link} to={`/rewards/${reward}`} size="sm">
          {open} {open === 1 ? "item" : "items"} proposed for the rubric of {name}
        </Anchor>
      ))}
    </Part>
  );
}
