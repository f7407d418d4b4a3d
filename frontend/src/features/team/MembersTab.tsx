import { ActionIcon, Select, Table, Text, Tooltip, VisuallyHidden } from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Member, Role } from "@/api/model";
import { useCan, useSession } from "@/features/session/session";
import { formatAgo } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { TableFrame } from "@/ui/TableFrame";
import { toastError } from "@/ui/toast";
import { Invitations } from "./Invitations";
import { membersQuery } from "./queries";
import { ROLES } from "./roles";

export function MembersTab() {
  const members = useQuery(membersQuery);
  const admin = useCan("admin");
  const session = useSession();
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ queryKey: ["members"] });
  const change = useMutation({
    mutationFn: ({ id, role }: { id: string; role: Role }) => api.changeMemberRole(id, { role }),
    onError: error => toastError("The role was not changed", error),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.removeMember(id),
    onError: error => toastError("The member was not removed", error),
    onSettled: refresh,
  });
  const confirm = (member: Member) =>
    modals.openConfirmModal({
      title: `Remove ${member.email}?`,
      children: (
        <Text size="sm">They lose access to this team immediately. Their past actions stay in the history.</Text>
      ),
      labels: { confirm: "Remove", cancel: "Cancel" },
      confirmProps: { color: "red" },
      onConfirm: () => remove.mutate(member.id),
    });
  return (
    <>
      {admin && <Invitations />}
      <Loaded query={members}>
        {({ data: rows }) => (
          <TableFrame label="Members">
            <Table data-testid="members-table">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Member</Table.Th>
                  <Table.Th miw={120}>Role</Table.Th>
                  <Table.Th visibleFrom="sm">Permissions</Table.Th>
                  <Table.Th ta="right" visibleFrom="sm">
                    Since
                  </Table.Th>
                  <Table.Th w={48} pos="relative">
                    <VisuallyHidden>Actions</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map(member => (
                  <Table.Tr key={member.id}>
                    <Table.Td>
                      <Text size="sm" fw={530}>
                        {member.name || member.email}
                        {member.email === session.user?.email && (
                          <Text component="span" size="xs" c="dimmed">
                            {" "}
                            you
                          </Text>
                        )}
                      </Text>
                      {member.name && (
                        <Text size="xs" c="dimmed">
                          {member.email}
                        </Text>
                      )}
                    </Table.Td>
                    <Table.Td>
                      <Select
                        size="xs"
                        aria-label={`Role of ${member.email}`}
                        data={ROLES.map(({ value, label }) => ({ value, label }))}
                        value={member.role}
                        onChange={role => role && change.mutate({ id: member.id, role: role as Role })}
                        allowDeselect={false}
                        disabled={!admin}
                      />
                    </Table.Td>
                    <Table.Td c="dimmed" visibleFrom="sm">
                      {ROLES.find(role => role.value === member.role)?.can}
                    </Table.Td>
                    <Table.Td ta="right" visibleFrom="sm">
                      {formatAgo(member.created_at)}
                    </Table.Td>
                    <Table.Td>
                      {admin && member.email !== session.user?.email && (
                        <Tooltip label="Remove from team">
                          <ActionIcon aria-label={`Remove ${member.email}`} onClick={() => confirm(member)}>
                            <IconTrash size={15} />
                          </ActionIcon>
                        </Tooltip>
                      )}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </TableFrame>
        )}
      </Loaded>
    </>
  );
}
