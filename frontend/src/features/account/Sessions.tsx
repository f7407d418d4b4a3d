import { Badge, Button, Group, Table, Text, VisuallyHidden } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { UserSession } from "@/api/model";
import { DASH, formatAgo, formatTime } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { TableFrame } from "@/ui/TableFrame";
import { toastError } from "@/ui/toast";
import { sessionsQuery } from "./queries";

export function Sessions() {
  const sessions = useQuery(sessionsQuery);
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ queryKey: ["account"] });
  const end = useMutation({
    mutationFn: (id: string) => api.endSession(id),
    onError: error => toastError("The session was not ended", error),
    onSettled: refresh,
  });
  const endOthers = useMutation({
    mutationFn: () => api.endOtherSessions(),
    onError: error => toastError("The sessions were not ended", error),
    onSettled: refresh,
  });
  const confirm = () =>
    modals.openConfirmModal({
      title: "End all other sessions?",
      children: <Text size="sm">You stay signed in here. All other browsers must sign in again.</Text>,
      labels: { confirm: "End sessions", cancel: "Cancel" },
      confirmProps: { color: "red" },
      onConfirm: () => endOthers.mutate(),
    });
  return (
    <Loaded query={sessions}>
      {({ data: rows }) => (
        <>
          <TableFrame label="Sessions">
            <Table data-testid="sessions-table">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Device</Table.Th>
                  <Table.Th>Address</Table.Th>
                  <Table.Th>Since</Table.Th>
                  <Table.Th>Last seen</Table.Th>
                  <Table.Th pos="relative">
                    <VisuallyHidden>Actions</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map(row => (
                  <Row key={row.id} row={row} onEnd={() => end.mutate(row.id)} ending={end.isPending} />
                ))}
              </Table.Tbody>
            </Table>
          </TableFrame>
          {rows.some(row => !row.is_current) && (
            <Group mt="xs">
              <Button size="xs" variant="default" onClick={confirm} loading={endOthers.isPending}>
                End all others
              </Button>
            </Group>
          )}
        </>
      )}
    </Loaded>
  );
}

function Row({ row, onEnd, ending }: { row: UserSession; onEnd: () => void; ending: boolean }) {
  return (
    <Table.Tr>
      <Table.Td fw={530}>
        {row.device}
        {row.is_current && (
          <Badge ml={6} color="gray">
            current
          </Badge>
        )}
      </Table.Td>
      <Table.Td className="mono">{row.address || DASH}</Table.Td>
      <Table.Td>{formatTime(row.created_at)}</Table.Td>
      <Table.Td>{formatAgo(row.last_seen_at)}</Table.Td>
      <Table.Td ta="right">
        {!row.is_current && (
          <Button
            size="compact-xs"
            variant="default"
            onClick={onEnd}
            disabled={ending}
            aria-label={`End the session of ${row.device}`}
          >
            End
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
