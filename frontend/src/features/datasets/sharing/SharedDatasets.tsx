/** Datasets of other teams that this team reads. Nothing is shown if there are none. */
import { Anchor, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { sharedDatasetsQuery } from "@/entities/datasets/queries";
import { formatAgo, formatBytes } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { TableFrame } from "@/ui/TableFrame";

export function SharedDatasets() {
  const shared = useQuery(sharedDatasetsQuery);
  return (
    <Loaded query={shared} skeleton={null}>
      {({ data }) =>
        data.length > 0 && (
          <section aria-label="Shared with us">
            <Title order={2} fz="md" mt="xl" mb="xs">
              Shared with us
            </Title>
            <TableFrame label="Shared with us">
              <Table highlightOnHover data-testid="shared-datasets-table">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Dataset</Table.Th>
                    <Table.Th>Reference</Table.Th>
                    <Table.Th>Owner</Table.Th>
                    <Table.Th ta="right">Rows</Table.Th>
                    <Table.Th ta="right">Size</Table.Th>
                    <Table.Th ta="right">Since</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map(one => (
                    <Table.Tr key={one.id}>
                      <Table.Td maw={360}>
                        <Anchor
                          component={Link}
                          to={`/datasets/${one.dataset_id}`}
                          fw={550}
                          size="sm"
                          c="var(--c-text)"
                        >
                          {one.name}
                        </Anchor>
                        {one.description && (
                          <Text size="xs" c="dimmed" lineClamp={1}>
                            {one.description}
                          </Text>
                        )}
                      </Table.Td>
                      <Table.Td className="mono" style={{ whiteSpace: "nowrap" }}>
                        {one.slug}@{one.number}
                      </Table.Td>
                      <Table.Td>Team {one.shared_by}</Table.Td>
                      <Table.Td ta="right">{one.rows.toLocaleString("en-GB")}</Table.Td>
                      <Table.Td ta="right">{formatBytes(one.bytes)}</Table.Td>
                      <Table.Td ta="right" style={{ whiteSpace: "nowrap" }}>
                        {formatAgo(one.accepted_at)}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </TableFrame>
          </section>
        )
      }
    </Loaded>
  );
}
