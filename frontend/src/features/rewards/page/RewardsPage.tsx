import { Anchor, Button, Table } from "@mantine/core";
import { IconPlus, IconTarget } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { describeDefinition } from "@/entities/rewards/describe";
import { rewardsQuery } from "@/entities/rewards/queries";
import { useCan } from "@/features/session/session";
import { formatAgo } from "@/lib/format";
import { EmptyState } from "@/ui/EmptyState";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { TableFrame } from "@/ui/TableFrame";

export function RewardsPage() {
  const rewards = useQuery(rewardsQuery);
  const editor = useCan("editor");
  const button = editor && (
    <Button component={Link} to="/rewards/new" leftSection={<IconPlus size={15} />}>
      New reward
    </Button>
  );
  return (
    <>
      <PageHeader title="Rewards" description="Weighted graders, in immutable versions." actions={button} />
      <Loaded query={rewards}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <EmptyState icon={<IconTarget size={40} stroke={1.3} />} title="No rewards yet" action={button}>
              A reward says how good an answer is. Compose it from graders, and try it on real samples before a run
              spends time on it.
            </EmptyState>
          ) : (
            <TableFrame label="Rewards">
              <Table highlightOnHover data-testid="rewards-table">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Reward</Table.Th>
                    <Table.Th>Reference</Table.Th>
                    <Table.Th>Definition</Table.Th>
                    <Table.Th ta="right">Latest version</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {rows.map(reward => (
                    <Table.Tr key={reward.id}>
                      <Table.Td>
                        <Anchor component={Link} to={`/rewards/${reward.id}`} fw={550} size="sm" c="var(--c-text)">
                          {reward.name}
                        </Anchor>
                      </Table.Td>
                      <Table.Td className="mono" style={{ whiteSpace: "nowrap" }}>
                        {reward.latest_version.ref}
                      </Table.Td>
                      <Table.Td>{describeDefinition(reward.latest_version.definition)}</Table.Td>
                      <Table.Td ta="right" style={{ whiteSpace: "nowrap" }}>
                        {formatAgo(reward.latest_version.created_at)}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </TableFrame>
          )
        }
      </Loaded>
    </>
  );
}
