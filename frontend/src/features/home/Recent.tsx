/** Checkpoints and policies of late. */
import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Home } from "@/api/model";
import { formatAgo } from "@/lib/format";
import { Part } from "./Part";

export function Recent({ checkpoints, policies }: Pick<Home, "checkpoints" | "policies">) {
  const rows = [
    ...checkpoints.map(one => ({
      key: one.id,
      to: `/runs/${one.run}?tab=checkpoints`,
      text: `${one.run_name}, step ${one.step}`,
      at: one.created_at,
    })),
    ...policies.map(one => ({ key: one.id, to: `/policies/${one.id}`, text: one.name, at: one.created_at })),
  ].sort((a, b) => b.at.localeCompare(a.at));
  return (
    <Part title="Recent models" empty="No checkpoints or policies yet" testId="home-recent">
      {rows.map(({ key, to, text, at }) => (
        <Group key={key} justify="space-between" gap="xs" wrap="nowrap">
          <Anchor component={Link} to={to} size="sm" truncate>
            {text}
          </Anchor>
          <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
            {formatAgo(at)}
          </Text>
        </Group>
      ))}
    </Part>
  );
}
