import { Group, Text } from "@mantine/core";
import type { TryResult } from "@/api/model";
import { formatNumber } from "@/lib/format";

/** The reward and its parts; an error is an error, never a zero. The line is kept free, so that nothing jumps. */
export function TryResultLine({ result, pending }: { result: TryResult | undefined; pending: boolean }) {
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
    <Group gap="md" mih={24} data-testid="try-result">
      <Text size="sm" fw={620} className="num">
        Reward {formatNumber(result.reward)}
      </Text>
      {Object.entries(result.parts).map(([name, value]) => (
        <Text key={name} size="sm" c="dimmed" className="num">
          {name} {formatNumber(value)}
        </Text>
      ))}
    </Group>
  );
}
