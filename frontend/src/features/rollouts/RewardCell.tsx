import { Badge, Group, Text, Tooltip } from "@mantine/core";
import type { Rollout } from "@/api/model";
import { decodeValue } from "@/entities/runs/points";
import { formatNumber } from "@/lib/format";

type Scored = Pick<Rollout, "reward" | "reward_parts" | "reward_error" | "excluded">;

/** The reward with its parts, unless they are next to it (`brief`), or the error: never a zero nobody computed. */
export function RewardCell({ row, brief = false }: { row: Scored; brief?: boolean }) {
  if (row.reward_error) {
    return (
      <Tooltip label={row.reward_error}>
        <Badge color="red">reward error</Badge>
      </Tooltip>
    );
  }
  const parts = Object.entries(row.reward_parts);
  return (
    <Group gap={8} wrap="nowrap">
      <Text size="sm" fw={600} className="num" miw={36}>
        {formatNumber(row.reward, 3)}
      </Text>
      {!brief && parts.length > 1 && (
        <Text size="xs" c="dimmed" className="num" style={{ whiteSpace: "nowrap" }}>
          {parts.map(([name, value]) => `${name} ${formatNumber(decodeValue(value), 2)}`).join(" · ")}
        </Text>
      )}
    </Group>
  );
}
