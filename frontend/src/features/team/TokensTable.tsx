import { ActionIcon, Badge, Group, Menu, Table, Text, Tooltip, VisuallyHidden } from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconTrash, IconUserShare } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { ServiceAccount, Token } from "@/api/model";
import { DASH, formatAgo } from "@/lib/format";
import { useNow } from "@/lib/useNow";
import { TableFrame } from "@/ui/TableFrame";
import { toastError } from "@/ui/toast";
import { serviceAccountsQuery } from "./queries";
import { standing } from "./token";

export function TokensTable({ rows, onChanged }: { rows: Token[]; onChanged: () => void }) {
  const now = useNow(60_000);
  const revoke = useMutation({
    mutationFn: (id: string) => api.revokeToken(id),
    onError: error => toastError("The token was not revoked", error),
    onSettled: onChanged,
  });
  const confirm = (token: Token) =>
    modals.openConfirmModal({
      title: `Revoke “${token.name}”?`,
      children: <Text size="sm">Programs that use it are rejected immediately.</Text>,
      labels: { confirm: "Revoke", cancel: "Cancel" },
      confirmProps: { color: "red" },
      onConfirm: () => revoke.mutate(token.id),
    });
  return (
    <TableFrame label="API tokens">
      <Table data-testid="tokens-table">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Owner</Table.Th>
            <Table.Th>Scopes</Table.Th>
            <Table.Th ta="right">Last used</Table.Th>
            <Table.Th ta="right">Expires</Table.Th>
            <Table.Th w={76} pos="relative">
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(token => (
            <Table.Tr key={token.id}>
              <Table.Td>
                <Text size="sm" fw={530}>
                  {token.name}
                </Text>
                <Text size="xs" c="dimmed" className="mono" title={`Created by ${token.created_by}`}>
                  {token.prefix}… · {formatAgo(token.created_at, now)}
                </Text>
              </Table.Td>
              <Table.Td maw={260}>
                <State token={token} now={now} />
              </Table.Td>
              <Table.Td>
                <Owner token={token} />
              </Table.Td>
              <Table.Td maw={240}>
                <Badge color="gray">{token.role}</Badge>
                <Text size="xs" c="dimmed">
                  {token.scopes === null ? "everything the role allows" : token.scopes.join(", ")}
                </Text>
              </Table.Td>
              <Table.Td ta="right">
                {token.last_used_at ? formatAgo(token.last_used_at, now) : "never"}
                {token.last_used_address && (
                  <Text size="xs" c="dimmed" className="mono">
                    {token.last_used_address}
                  </Text>
                )}
              </Table.Td>
              <Table.Td ta="right" style={{ whiteSpace: "nowrap" }}>
                {token.expires_at ? token.expires_at.slice(0, 10) : DASH}
              </Table.Td>
              <Table.Td>
                <Group gap={4} wrap="nowrap" justify="flex-end">
                  {token.owner.kind === "nobody" && <HandOver token={token} onChanged={onChanged} />}
                  <Tooltip label="Revoke">
                    <ActionIcon aria-label={`Revoke ${token.name}`} onClick={() => confirm(token)}>
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
  );
}

function State({ token, now }: { token: Token; now: number }) {
  const { text, color, hint } = standing(token, now);
  return (
    <>
      <Badge color={color} data-testid="token-state">
        {text}
      </Badge>
      {hint && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
    </>
  );
}

function Owner({ token }: { token: Token }) {
  if (token.owner.kind === "nobody") return <Text c="dimmed">no owner</Text>;
  return (
    <>
      {token.owner.name}
      {token.owner.kind === "service_account" && (
        <Text size="xs" c="dimmed">
          service account
        </Text>
      )}
    </>
  );
}

/** Assigns a token without an owner to a service account. */
function HandOver({ token, onChanged }: { token: Token; onChanged: () => void }) {
  const accounts = useQuery(serviceAccountsQuery).data?.data ?? [];
  const open = accounts.filter(account => account.disabled_at === null);
  const give = useMutation({
    mutationFn: (account: ServiceAccount) => api.handOverToken(token.id, { service_account: account.id }),
    onError: error => toastError("The token was not assigned", error),
    onSettled: onChanged,
  });
  return (
    <Menu>
      <Menu.Target>
        <Tooltip label="Assign to a service account">
          <ActionIcon aria-label={`Assign ${token.name} to a service account`}>
            <IconUserShare size={15} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {open.length === 0 && <Menu.Label>Create a service account first.</Menu.Label>}
        {open.map(account => (
          <Menu.Item key={account.id} onClick={() => give.mutate(account)}>
            {account.name}, {account.role}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
