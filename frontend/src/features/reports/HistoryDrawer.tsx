/** Earlier revisions of a report. */
import { Anchor, Badge, Drawer, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Report } from "@/api/model";
import { revisionsQuery } from "@/entities/reports/queries";
import { formatAgo } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { formatInstant } from "./instant";

interface Props {
  report: Report;
  opened: boolean;
  onClose: () => void;
}

export function HistoryDrawer({ report, opened, onClose }: Props) {
  const query = useQuery({ ...revisionsQuery(report.id), enabled: opened });
  return (
    <Drawer opened={opened} onClose={onClose} position="right" title="Revisions">
      <Text size="sm" c="dimmed" mb="sm">
        One for each save. Open one to read or restore it.
      </Text>
      <Loaded query={query}>
        {({ data }) => (
          <ul style={{ margin: 0, padding: 0, listStyle: "none" }} data-testid="revisions">
            {data.map(one => (
              <li key={one.id} style={{ padding: "6px 0", borderTop: "1px solid var(--c-border)" }}>
                <Group gap={8} wrap="nowrap">
                  <Anchor
                    component={Link}
                    to={`/reports/${report.id}?revision=${one.number}`}
                    size="sm"
                    underline="always"
                    onClick={onClose}
                  >
                    Revision {one.number}
                  </Anchor>
                  {one.number === report.revision && (
                    <Badge variant="light" color="gray">
                      Current
                    </Badge>
                  )}
                </Group>
                <Text size="sm" truncate>
                  {one.title}
                </Text>
                <Text size="xs" c="dimmed" title={formatInstant(one.created_at)}>
                  {one.created_by}, {formatAgo(one.created_at)}
                </Text>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Drawer>
  );
}
