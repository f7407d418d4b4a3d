/** Accounts for programs: their tokens outlive the people who make them. */
import { Badge, Button, Group, Select, Table, Text, TextInput, Title, VisuallyHidden } from "@mantine/core";
import { IconRobot } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { Role, ServiceAccount } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { formatAgo } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { TableFrame } from "@/ui/TableFrame";
import { toastError } from "@/ui/toast";
import { serviceAccountsQuery } from "./queries";
import { ROLES } from "./roles";

const CHOICES = ROLES.map(({ value, label }) => ({ value, label }));

export function ServiceAccounts({ onChanged }: { onChanged: () => void }) {
  const accounts = useQuery(serviceAccountsQuery);
  const change = useMutation({
    mutationFn: ({ id, ...body }: { id: string; role?: Role; disabled?: boolean }) =>
      api.updateServiceAccount(id, body),
    onError: error => toastError("The service account was not changed", error),
    onSettled: onChanged,
  });
  return (
    <>
      <Title order={2} size="h4" mt="xl" mb={4}>
        Service accounts
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        For programs that must keep working when people leave. Their tokens never exceed the account&apos;s role.
      </Text>
      <NewAccount onMade={onChanged} />
      <Loaded query={accounts}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <Nothing>No service accounts yet.</Nothing>
          ) : (
            <TableFrame label="Service accounts">
              <Table data-testid="service-accounts-table">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Name</Table.Th>
                    <Table.Th miw={120}>Role</Table.Th>
                    <Table.Th ta="right">Tokens</Table.Th>
                    <Table.Th>Created by</Table.Th>
                    <Table.Th ta="right">Created</Table.Th>
                    <Table.Th w={100} pos="relative">
                      <VisuallyHidden>Actions</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {rows.map(account => (
                    <Row key={account.id} account={account} change={change.mutate} />
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

interface RowProps {
  account: ServiceAccount;
  change: (change: { id: string; role?: Role; disabled?: boolean }) => void;
}

function Row({ account, change }: RowProps) {
  const { id, name, role, disabled_at: disabled } = account;
  return (
    <Table.Tr>
      <Table.Td fw={530}>
        {name}
        {disabled !== null && (
          <Badge color="red" ml={6}>
            disabled
          </Badge>
        )}
      </Table.Td>
      <Table.Td>
        <Select
          size="xs"
          aria-label={`Role of ${name}`}
          data={CHOICES}
          value={role}
          onChange={next => next && change({ id, role: next as Role })}
          allowDeselect={false}
        />
      </Table.Td>
      <Table.Td ta="right">{account.live_tokens}</Table.Td>
      <Table.Td>{account.created_by}</Table.Td>
      <Table.Td ta="right">{formatAgo(account.created_at)}</Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`${disabled === null ? "Disable" : "Enable"} ${name}`}
          onClick={() => change({ id, disabled: disabled === null })}
        >
          {disabled === null ? "Disable" : "Enable"}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

function NewAccount({ onMade }: { onMade: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("editor");
  const create = useSubmit({
    mutationFn: () => api.createServiceAccount({ name, role }),
    onSuccess: () => {
      setName("");
      onMade();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <>
      {restError(create.error, ["/name", "/role"]) !== null && <ErrorState error={create.error} />}
      <Group component="form" onSubmit={submit} gap="xs" mb="md" align="flex-start">
        <TextInput
          aria-label="Name of the new service account"
          placeholder="What it is for"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
          error={fieldError(create.error, "/name")}
          maxLength={120}
          required
          w={{ base: "100%", xs: 260 }}
        />
        <Select
          aria-label="Role of the new service account"
          data={CHOICES}
          value={role}
          onChange={next => next && setRole(next as Role)}
          error={fieldError(create.error, "/role")}
          allowDeselect={false}
          w={130}
        />
        <Button type="submit" variant="default" leftSection={<IconRobot size={15} />} loading={create.isPending}>
          Add service account
        </Button>
      </Group>
    </>
  );
}
