import * as api from "@/api/client";
import { Badge, Group, Table, Text } from "@mantine/core";
import { IconShieldCheck, IconShieldX } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { errorText } from "@/api/http";
import type { AuditEntry } from "@/api/model";
import { formatTime, formatValue } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { ShowMore } from "@/ui/ShowMore";
import { TableFrame } from "@/ui/TableFrame";
import { AuditFilterForm } from "./AuditFilterForm";
import { auditQuery } from "./queries";

export function AuditTab() {
  const { actor, action } = useSearch({ from: "/app/team" });
  const filter = { actor, action };
  const audit = useInfiniteQuery(auditQuery(filter));
  return (
    <>
      <Chain />
      <AuditFilterForm key={JSON.stringify(filter)} filter={filter} />
      <Loaded query={audit}>{({ pages }) => <Entries rows={pages.flatMap(page => page.data)} />}</Loaded>
      <ShowMore query={audit} />
    </>
  );
}

function Entries({ rows }: { rows: AuditEntry[] }) {
  return (
    <TableFrame label="Audit log">
      <Table data-testid="audit-table" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">No.</Table.Th>
            <Table.Th>When</Table.Th>
            <Table.Th>Who</Table.Th>
            <Table.Th>What</Table.Th>
            <Table.Th>Details</Table.Th>
            <Table.Th>Hash</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(entry => (
            <Table.Tr key={entry.id}>
              <Table.Td ta="right">{entry.number}</Table.Td>
              <Table.Td style={{ whiteSpace: "nowrap" }}>{formatTime(entry.created_at)}</Table.Td>
              <Table.Td>
                {entry.actor.name}
                {entry.actor.kind !== "user" && (
                  <Badge color="gray" ml={6}>
                    {entry.actor.kind}
                  </Badge>
                )}
              </Table.Td>
              <Table.Td>
                <Text size="sm" fw={530}>
                  {entry.action}
                </Text>
                <Text size="xs" c="dimmed" className="mono">
                  {entry.target_id}
                </Text>
              </Table.Td>
              <Table.Td maw={420}>
                <Details entry={entry} />
              </Table.Td>
              <Table.Td className="mono" title={entry.hash}>
                {entry.hash.slice(0, 10)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}

function Details({ entry }: { entry: AuditEntry }) {
  const parts = [
    entry.reason && `“${entry.reason}”`,
    entry.before !== null && `before ${short(entry.before)}`,
    entry.after !== null && short(entry.after),
  ].filter(Boolean);
  return (
    <Text size="xs" c="dimmed" lineClamp={2} style={{ overflowWrap: "anywhere" }}>
      {parts.join(" · ")}
    </Text>
  );
}

function short(value: AuditEntry["after"]): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return formatValue(value);
  return Object.entries(value)
    .filter(([, part]) => typeof part !== "object" || part === null)
    .map(([name, part]) => `${name} ${formatValue(part)}`)
    .join(", ");
}

/** Whether every entry is as it was written. */
function Chain() {
  const check = useQuery({
    queryKey: ["audit", "verification"],
    queryFn: ({ signal }) => api.verifyAudit({ signal }),
  });
  if (!check.data) {
    return (
      <Text size="xs" mb="xs" mih={18} c="var(--c-bad)" role="status">
        {check.isError && `The hash chain could not be verified: ${errorText(check.error)}`}
      </Text>
    );
  }
  const { valid, entries, first_broken } = check.data;
  return (
    <Group gap={6} mb="xs" role="status">
      {valid ? <IconShieldCheck size={15} color="var(--c-good)" /> : <IconShieldX size={15} color="var(--c-bad)" />}
      <Text size="xs" c={valid ? "dimmed" : "var(--c-bad)"}>
        {valid
          ? `The hash chain is valid for all ${entries} entries.`
          : `The hash chain is broken at entry ${first_broken}: the log has been changed.`}
      </Text>
    </Group>
  );
}
