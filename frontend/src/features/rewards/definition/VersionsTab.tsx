/** Every version with what it changed. */
import { Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { JsonSchema, RewardVersion } from "@/api/model";
import { describeDefinition } from "@/entities/rewards/describe";
import { ChangeList } from "@/features/schema-form/ChangeList";
import { withDefaults } from "@/features/schema-form/schema";
import { formatTime } from "@/lib/format";
import { TextLink } from "@/ui/TextLink";
import { definitionChanges } from "./changes";

/** What each judge of a version was when it was made: runs that use the version ask no other. */
function judges(version: RewardVersion): string[] {
  return Object.entries(version.judges ?? {}).map(([slug, { base_url, policy, model }]) => {
    const place = base_url ? `at ${base_url}` : `served from ${policy}`;
    return `Judge ${slug}: ${model}, ${place}`;
  });
}

export function VersionsTab({ schema, versions }: { schema: JsonSchema; versions: RewardVersion[] }) {
  return (
    <Stack gap="sm" data-testid="reward-versions">
      {versions.map((version, index) => {
        const before = versions[index + 1];
        return (
          <Paper key={version.number} p="md" component="section" aria-label={`Version ${version.number}`}>
            <Group justify="space-between" gap="xs" mb={4}>
              <Group gap="xs">
                <Title order={2} size="h3">
                  Version {version.number}
                </Title>
                <Text size="xs" c="dimmed" className="mono">
                  {version.ref}
                </Text>
              </Group>
              <Text size="xs" c="dimmed">
                {formatTime(version.created_at)} by {version.created_by} ·{" "}
                <TextLink
                  from="/rewards/$rewardId"
                  to="/rewards/$rewardId"
                  search={{ version: version.number }}
                  size="xs"
                  underline="always"
                >
                  open
                </TextLink>
              </Text>
            </Group>
            {version.note && <Text size="sm">{version.note}</Text>}
            {judges(version).map(judge => (
              <Text key={judge} size="xs" c="dimmed">
                {judge}
              </Text>
            ))}
            <div style={{ marginTop: 8 }}>
              {before ? (
                <ChangeList
                  changes={definitionChanges(
                    withDefaults(schema, schema, before.definition),
                    withDefaults(schema, schema, version.definition),
                  )}
                  empty="No difference from the previous version."
                />
              ) : (
                <Text size="sm" c="dimmed" className="num">
                  {describeDefinition(version.definition)}
                </Text>
              )}
            </div>
          </Paper>
        );
      })}
    </Stack>
  );
}
