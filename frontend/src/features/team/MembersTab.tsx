import { ActionIcon, Button, Group, Select, Table, Text, TextInput, Tooltip, VisuallyHidden } from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconTrash, IconUserPlus } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { team } from "@/api/client";
import type { Member, Role } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { useCan, useSession } from "@/features/session/session";
import { formatAgo } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { TableFrame } from "@/ui/TableFrame";
import { toastError } from "@/ui/toast";
import { membersQuery } from "./queries";
import { ROLES } from "./roles";
import { Secret } from "./Secret";

export function MembersTab() {
  const members = useQuery(membersQuery);
  const admin = useCan("admin");
  const session = useSession();
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ queryKey: ["members"] });
  const change = useMutation({
    mutationFn: ({ id, role }: { id: string; role: Role }) => team.changeRole(id, role),
    onError: error => toastError("The role was not changed", error),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: (id: string) => team.removeMember(id),
    onError: error => toastError("The member was not removed", error),
    onSettled: refresh,
  });
  const confirm = (member: Member) =>
    modals.openConfirmModal({
      title: `Remove ${member.email}?`,
      children: <Text size="sm">They lose access to this team at once. What they have done stays in the history.</Text>,
      labels: { confirm: "Remove", cancel: "Keep" },
      confirmProps: { color: "red" },
      onConfirm: () => remove.mutate(member.id),
    });
  return (
    <>
      {admin && <AddMember onAdded={refresh} />}
      <Loaded query={members}>
        {({ data: rows }) => (
          <TableFrame label="Members">
            <Table data-testid="members-table">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Member</Table.Th>
                  <Table.Th miw={120}>Role</Table.Th>
                  <Table.Th visibleFrom="sm">May</Table.Th>
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
                        <Tooltip label="Remove from the team">
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

function AddMember({ onAdded }: { onAdded: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [shown, setShown] = useState<Member | null>(null);
  const add = useSubmit({
    mutationFn: () => team.addMember({ email, role }),
    onSuccess: member => {
      setEmail("");
      setShown(member.password ? member : null);
      onAdded();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <>
      {shown?.password && (
        <Secret title={`First password of ${shown.email}`} value={shown.password} onClose={() => setShown(null)} />
      )}
      {restError(add.error, ["/email"]) !== null && <ErrorState error={add.error} />}
      <Group component="form" onSubmit={submit} gap="xs" mb="md" align="flex-start">
        <TextInput
          type="email"
          aria-label="Email of the new member"
          placeholder="name@example.com"
          value={email}
          onChange={event => setEmail(event.currentTarget.value)}
          error={fieldError(add.error, "/email")}
          required
          w={{ base: "100%", xs: 260 }}
        />
        <Select
          aria-label="Role of the new member"
          data={ROLES.map(({ value, label }) => ({ value, label }))}
          value={role}
          onChange={next => next && setRole(next as Role)}
          allowDeselect={false}
          w={130}
        />
        <Button type="submit" variant="default" leftSection={<IconUserPlus size={15} />} loading={add.isPending}>
          Add member
        </Button>
      </Group>
    </>
  );
}
