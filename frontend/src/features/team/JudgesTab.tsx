/** Judges of the team: where definitions ask for verdicts. Keys go in and never come out. */
import * as api from "@/api/client";
import { ActionIcon, Badge, Button, Group, Table, Text, Tooltip, VisuallyHidden } from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconGavel, IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { JudgeEndpoint } from "@/api/model";
import { useCan } from "@/features/session/session";
import { DASH, formatNumber } from "@/lib/format";
import { EmptyState } from "@/ui/EmptyState";
import { Loaded } from "@/ui/Loaded";
import { TableFrame } from "@/ui/TableFrame";
import { toastError } from "@/ui/toast";
import { JudgeForm } from "./JudgeForm";
import { judgesQuery } from "./queries";

export function JudgesTab() {
  const query = useQuery(judgesQuery);
  const admin = useCan("admin");
  const client = useQueryClient();
  /** What the form is open for: nothing, a new judge, or one that is there. */
  const [editing, setEditing] = useState<JudgeEndpoint | "new" | null>(null);
  const remove = useMutation({
    mutationFn: (id: string) => api.deleteJudgeEndpoint(id),
    onError: error => toastError("The judge was not deleted", error),
    onSettled: () => void client.invalidateQueries({ queryKey: ["judges"] }),
  });
  const confirm = (judge: JudgeEndpoint) =>
    modals.openConfirmModal({
      title: `Delete ${judge.name}?`,
      children: (
        <Text size="sm">
          Its key is deleted. Definitions that name <span className="mono">{judge.slug}</span> can no longer be scored.
        </Text>
      ),
      labels: { confirm: "Delete", cancel: "Cancel" },
      confirmProps: { color: "red" },
      onConfirm: () => remove.mutate(judge.id),
    });
  const add = admin && (
    <Button
      variant="default"
      leftSection={<IconPlus size={15} />}
      onClick={() => setEditing("new")}
      data-testid="add-judge"
    >
      Add a judge
    </Button>
  );
  return (
    <>
      <Group justify="space-between" mb="md" gap="xs">
        <Text size="sm" c="dimmed" flex={1} miw={220}>
          Rubrics and model graders name a judge by its slug; without one they use <span className="mono">default</span>
          .{!admin && " Changing judges needs the admin role."}
        </Text>
        {query.data && query.data.data.length > 0 && add}
      </Group>
      <Loaded query={query}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <EmptyState icon={<IconGavel size={40} stroke={1.3} />} title="No judges yet" action={add}>
              A judge is an OpenAI-compatible endpoint, or one of your policies served by the cluster.
            </EmptyState>
          ) : (
            <TableFrame label="Judges">
              <Table data-testid="judges-table">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Judge</Table.Th>
                    <Table.Th>Where</Table.Th>
                    <Table.Th>Key</Table.Th>
                    <Table.Th ta="right">At a time</Table.Th>
                    <Table.Th ta="right">Timeout</Table.Th>
                    <Table.Th ta="right">Retries</Table.Th>
                    <Table.Th ta="right">Price per 1M tokens</Table.Th>
                    <Table.Th w={80} pos="relative">
                      <VisuallyHidden>Actions</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {rows.map(judge => (
                    <Table.Tr key={judge.id} data-testid="judge-row" data-slug={judge.slug}>
                      <Table.Td>
                        <Text size="sm" fw={530}>
                          {judge.name}
                        </Text>
                        <Text size="xs" c="dimmed" className="mono">
                          {judge.slug}
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <Text size="sm" className="mono">
                          {judge.base_url ?? `policy ${judge.policy}, served by the cluster`}
                        </Text>
                        <Text size="xs" c="dimmed">
                          {judge.model}
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        {judge.has_key ? <Badge color="green">stored</Badge> : <Badge color="gray">none</Badge>}
                      </Table.Td>
                      <Table.Td ta="right">{judge.max_in_flight}</Table.Td>
                      <Table.Td ta="right">{formatNumber(judge.timeout_s)} s</Table.Td>
                      <Table.Td ta="right">{judge.retries}</Table.Td>
                      <Table.Td ta="right">{prices(judge)}</Table.Td>
                      <Table.Td>
                        {admin && (
                          <Group gap={2} wrap="nowrap" justify="flex-end">
                            <Tooltip label="Edit">
                              <ActionIcon aria-label={`Edit ${judge.name}`} onClick={() => setEditing(judge)}>
                                <IconPencil size={15} />
                              </ActionIcon>
                            </Tooltip>
                            <Tooltip label="Delete">
                              <ActionIcon aria-label={`Delete ${judge.name}`} onClick={() => confirm(judge)}>
                                <IconTrash size={15} />
                              </ActionIcon>
                            </Tooltip>
                          </Group>
                        )}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </TableFrame>
          )
        }
      </Loaded>
      {editing !== null && <JudgeForm judge={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
    </>
  );
}

function prices({ price_prompt, price_completion }: JudgeEndpoint): string {
  if (price_prompt === null && price_completion === null) return DASH;
  return `${formatNumber(price_prompt)} in, ${formatNumber(price_completion)} out`;
}
