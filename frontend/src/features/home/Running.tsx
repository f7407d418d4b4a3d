/** Active runs with their main figure, and queued runs with the reason. */
import { Group, Progress, Text } from "@mantine/core";
import type { Run } from "@/api/model";
import { FigureTrend } from "@/features/runs/parts/FigureTrend";
import { HealthMark } from "@/ui/HealthMark";
import { Part } from "./Part";
import { percentOf } from "@/lib/format";
import { RunName } from "./RunName";

export function Running({ runs }: { runs: Run[] }) {
  return (
    <Part title="Running" empty="No active runs" testId="home-running">
      {runs.map(run => (
        <div key={run.id}>
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <RunName run={run} />
            <FigureTrend run={run} />
          </Group>
          <HealthMark health={run.health} />
          <Progress
            mt={4}
            size={4}
            value={percentOf(run.step, run.total_steps)}
            aria-label={`Step ${run.step} of ${run.total_steps}`}
          />
        </div>
      ))}
    </Part>
  );
}

export function Queue({ runs }: { runs: Run[] }) {
  return (
    <Part title="Queue" empty="No queued runs" testId="home-queue">
      {runs.map(run => (
        <div key={run.id}>
          <RunName run={run} />
          <Text size="xs" c="dimmed">
            {run.state_reason || "waiting"}
          </Text>
        </div>
      ))}
    </Part>
  );
}
