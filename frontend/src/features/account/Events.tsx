import { Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { DASH, formatTime } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { ShowMore } from "@/ui/ShowMore";
import { TableFrame } from "@/ui/TableFrame";
import { eventsQuery } from "./queries";
import { actionInWords } from "./words";

export function Events() {
  const events = useInfiniteQuery(eventsQuery);
  return (
    <>
      <Loaded query={events}>
        {({ pages }) => {
          const rows = pages.flatMap(page => page.data);
          if (rows.length === 0) return <Nothing>No activity yet.</Nothing>;
          return (
            <TableFrame label="Activity">
              <Table data-testid="account-events-table" verticalSpacing={6}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>When</Table.Th>
                    <Table.Th>What</Table.Th>
                    <Table.Th>Device</Table.Th>
                    <Table.Th>Address</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {rows.map(row => (
                    <Table.Tr key={row.id}>
                      <Table.Td style={{ whiteSpace: "nowrap" }}>{formatTime(row.created_at)}</Table.Td>
                      <Table.Td>
                        <Text size="sm" c={row.action === "account.sign_in_failed" ? "var(--c-bad)" : undefined}>
                          {actionInWords(row.action, row.count)}
                        </Text>
                      </Table.Td>
                      <Table.Td>{row.device || DASH}</Table.Td>
                      <Table.Td className="mono">{row.address || DASH}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </TableFrame>
          );
        }}
      </Loaded>
      <ShowMore query={events} />
    </>
  );
}
