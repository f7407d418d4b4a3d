/** Inviting people, and the invitations that wait for an answer. */
import {
  ActionIcon,
  Badge,
  Button,
  Group,
  Select,
  Table,
  Text,
  TextInput,
  Title,
  Tooltip,
  VisuallyHidden,
} from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconMailForward, IconTrash, IconUserPlus } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { Invitation, NewInvitation, Role } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { formatTime } from "@/lib/format";
import { useNow } from "@/lib/useNow";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { TableFrame } from "@/ui/TableFrame";
import { toast, toastError } from "@/ui/toast";
import { invitationsQuery } from "./queries";
import { ROLES } from "./roles";
import { Secret } from "@/ui/Secret";

export function Invitations() {
  const client = useQueryClient();
  const [shown, setShown] = useState<NewInvitation | null>(null);
  const made = (invitation: NewInvitation) => {
    setShown(invitation.link === null ? null : invitation);
    if (invitation.link === null) toast(`Invitation sent to ${invitation.email}.`);
    void client.invalidateQueries({ queryKey: ["invitations"] });
  };
  return (
    <>
      {shown?.link && (
        <Secret
          title={`Link for ${shown.email}`}
          value={shown.link}
          note="The first person to open it joins the team: send it to them yourself."
          onClose={() => setShown(null)}
        />
      )}
      <InviteForm onInvited={made} />
      <OpenInvitations onSent={made} />
    </>
  );
}

function InviteForm({ onInvited }: { onInvited: (invitation: NewInvitation) => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const invite = useSubmit({
    mutationFn: () => api.invite({ email, role }),
    onSuccess: invitation => {
      setEmail("");
      onInvited(invitation);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate();
  };
  return (
    <>
      {restError(invite.error, ["/email"]) !== null && <ErrorState error={invite.error} />}
      <Group component="form" onSubmit={submit} gap="xs" mb="md" align="flex-start">
        <TextInput
          type="email"
          aria-label="Email to invite"
          placeholder="name@example.com"
          value={email}
          onChange={event => setEmail(event.currentTarget.value)}
          error={fieldError(invite.error, "/email")}
          required
          w={{ base: "100%", xs: 260 }}
        />
        <Select
          aria-label="Role of the invited person"
          data={ROLES.map(({ value, label }) => ({ value, label }))}
          value={role}
          onChange={next => next && setRole(next as Role)}
          allowDeselect={false}
          w={130}
        />
        <Button type="submit" variant="default" leftSection={<IconUserPlus size={15} />} loading={invite.isPending}>
          Invite
        </Button>
      </Group>
    </>
  );
}

function OpenInvitations({ onSent }: { onSent: (invitation: NewInvitation) => void }) {
  const invitations = useQuery(invitationsQuery);
  const client = useQueryClient();
  const again = useSubmit({
    mutationFn: (id: string) => api.resendInvitation(id),
    onSuccess: onSent,
    onError: error => toastError("The invitation was not sent again", error),
  });
  const withdraw = useMutation({
    mutationFn: (id: string) => api.withdrawInvitation(id),
    onError: error => toastError("The invitation was not withdrawn", error),
    onSettled: () => client.invalidateQueries({ queryKey: ["invitations"] }),
  });
  const confirm = ({ id, email }: Invitation) =>
    modals.openConfirmModal({
      title: `Withdraw the invitation of ${email}?`,
      children: <Text size="sm">Its link stops working immediately.</Text>,
      labels: { confirm: "Withdraw", cancel: "Cancel" },
      confirmProps: { color: "red" },
      onConfirm: () => withdraw.mutate(id),
    });
  return (
    <Loaded query={invitations} skeleton={null}>
      {({ data: rows }) =>
        rows.length > 0 && (
          <>
            <Title order={2} fz="sm" mb="xs">
              Invited
            </Title>
            <TableFrame label="Invitations">
              <Table data-testid="invitations-table">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Address</Table.Th>
                    <Table.Th>Role</Table.Th>
                    <Table.Th visibleFrom="sm">Invited by</Table.Th>
                    <Table.Th>State</Table.Th>
                    <Table.Th w={88} pos="relative">
                      <VisuallyHidden>Actions</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {rows.map(one => (
                    <Table.Tr key={one.id}>
                      <Table.Td fw={530} style={{ overflowWrap: "anywhere" }}>
                        {one.email}
                      </Table.Td>
                      <Table.Td>
                        <Badge color="gray">{one.role}</Badge>
                      </Table.Td>
                      <Table.Td visibleFrom="sm">{one.created_by}</Table.Td>
                      <Table.Td>
                        <State invitation={one} />
                      </Table.Td>
                      <Table.Td>
                        <Group gap={4} wrap="nowrap" justify="flex-end">
                          <Tooltip label="Send again, with a new link">
                            <ActionIcon aria-label={`Invite ${one.email} again`} onClick={() => again.mutate(one.id)}>
                              <IconMailForward size={15} />
                            </ActionIcon>
                          </Tooltip>
                          <Tooltip label="Withdraw">
                            <ActionIcon
                              aria-label={`Withdraw the invitation of ${one.email}`}
                              onClick={() => confirm(one)}
                            >
                              <IconTrash size={15} />
                            </ActionIcon>
                          </Tooltip>
                        </Group>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </TableFrame>
            <Title order={2} fz="sm" mt="lg" mb="xs">
              Members
            </Title>
          </>
        )
      }
    </Loaded>
  );
}

function State({ invitation }: { invitation: Invitation }) {
  const until = formatTime(invitation.expires_at);
  const now = useNow();
  if (Date.parse(invitation.expires_at) <= now) {
    return (
      <Badge color="red" title={`The link stopped working on ${until}.`}>
        expired
      </Badge>
    );
  }
  if (invitation.letter_fault) {
    return (
      <Text size="xs" c="red">
        The email could not be sent: {invitation.letter_fault} Send it again.
      </Text>
    );
  }
  const way = invitation.mailed ? "sent by email" : "link shared by hand";
  return (
    <Text size="xs" c="dimmed">
      {way}, valid until {until}
    </Text>
  );
}
