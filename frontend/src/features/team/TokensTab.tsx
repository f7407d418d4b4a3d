import {
  ActionIcon,
  Badge,
  Button,
  Group,
  Select,
  Table,
  Text,
  TextInput,
  Tooltip,
  VisuallyHidden,
} from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconKey, IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { team } from "@/api/client";
import type { NewToken, Role, Token } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { DASH, formatAgo } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { TableFrame } from "@/ui/TableFrame";
import { toastError } from "@/ui/toast";
import { tokensQuery } from "./queries";
import { ROLES } from "./roles";
import { Secret } from "./Secret";

export function TokensTab() {
  const tokens = useQuery(tokensQuery);
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ queryKey: ["tokens"] });
  const revoke = useMutation({
    mutationFn: (id: string) => team.revokeToken(id),
    onError: error => toastError("The token was not revoked", error),
    onSettled: refresh,
  });
  const confirm = (token: Token) =>
    modals.openConfirmModal({
      title: `Revoke “${token.name}”?`,
      children: <Text size="sm">Programs that use it are refused at once.</Text>,
      labels: { confirm: "Revoke", cancel: "Keep" },
      confirmProps: { color: "red" },
      onConfirm: () => revoke.mutate(token.id),
    });
  return (
    <>
      <CreateToken onCreated={refresh} />
      <Loaded query={tokens}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <Nothing>No tokens. A token lets a program do what its role allows, in this team.</Nothing>
          ) : (
            <TableFrame label="API tokens">
              <Table data-testid="tokens-table">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Name</Table.Th>
                    <Table.Th>Begins with</Table.Th>
                    <Table.Th>Role</Table.Th>
                    <Table.Th>Made by</Table.Th>
                    <Table.Th ta="right">Made</Table.Th>
                    <Table.Th ta="right">Last used</Table.Th>
                    <Table.Th ta="right">Expires</Table.Th>
                    <Table.Th w={48} pos="relative">
                      <VisuallyHidden>Actions</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {rows.map(token => (
                    <Table.Tr key={token.id}>
                      <Table.Td fw={530}>{token.name}</Table.Td>
                      <Table.Td className="mono">{token.prefix}…</Table.Td>
                      <Table.Td>
                        <Badge color="gray">{token.role}</Badge>
                      </Table.Td>
                      <Table.Td>{token.created_by}</Table.Td>
                      <Table.Td ta="right">{formatAgo(token.created_at)}</Table.Td>
                      <Table.Td ta="right">{token.last_used_at ? formatAgo(token.last_used_at) : "never"}</Table.Td>
                      <Table.Td ta="right">{token.expires_at ? token.expires_at.slice(0, 10) : DASH}</Table.Td>
                      <Table.Td>
                        <Tooltip label="Revoke">
                          <ActionIcon aria-label={`Revoke ${token.name}`} onClick={() => confirm(token)}>
                            <IconTrash size={15} />
                          </ActionIcon>
                        </Tooltip>
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

function CreateToken({ onCreated }: { onCreated: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [made, setMade] = useState<NewToken | null>(null);
  const create = useSubmit({
    mutationFn: () => team.createToken({ name, role }),
    onSuccess: token => {
      setName("");
      setMade(token);
      onCreated();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <>
      {made?.secret && <Secret title={`Token “${made.name}”`} value={made.secret} onClose={() => setMade(null)} />}
      {restError(create.error, ["/name", "/role"]) !== null && <ErrorState error={create.error} />}
      <Group component="form" onSubmit={submit} gap="xs" mb="md" align="flex-start">
        <TextInput
          aria-label="Name of the new token"
          placeholder="What it is for"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
          error={fieldError(create.error, "/name")}
          maxLength={120}
          required
          w={{ base: "100%", xs: 260 }}
        />
        <Select
          aria-label="Role of the new token"
          data={ROLES.map(({ value, label }) => ({ value, label }))}
          value={role}
          onChange={next => next && setRole(next as Role)}
          error={fieldError(create.error, "/role")}
          allowDeselect={false}
          w={130}
        />
        <Button type="submit" variant="default" leftSection={<IconKey size={15} />} loading={create.isPending}>
          Create token
        </Button>
      </Group>
    </>
  );
}
