import { Group, Text } from "@mantine/core";
import type { Score } from "@/api/model";
import { partsOf } from "@/features/rollouts/parts";
import { RewardParts } from "@/features/rollouts/RewardParts";
import { formatNumber } from "@/lib/format";

/** The reward and its parts; an error is an error, never a zero. The line is kept free, so that nothing jumps. */
export function TryResultLine({ result, pending }: { result: Score | undefined; pending: boolean }) {
  if (pending || !result) {
    return (
      <Text size="sm" c="dimmed" mih={24}>
        {pending ? "Scoring…" : "Not scored yet"}
      </Text>
    );
  }
  if (result.error) {
    return (
      <Text size="sm" c="var(--c-bad)" mih={24} role="alert" data-testid="try-error">
        Reward error: {result.error}
      </Text>
    );
  }
  return (
    <div data-testid="try-result">
      <Group mih={24}>
        <Text size="sm" fw={620} className="num">
          Reward {formatNumber(result.reward)}
        </Text>
      </Group>
      <RewardParts label="Parts of the reward" parts={partsOf(result.parts, result.explanation)} told />
    </div>
  );
}
