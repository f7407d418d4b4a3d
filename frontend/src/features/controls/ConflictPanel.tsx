/** What others have changed since the draft was begun, beside the draft: nothing is overwritten unseen. */
import { Alert, Button, Group, Table, Text, VisuallyHidden } from "@mantine/core";
import type { Control } from "@/api/model";
import { formatTime, formatValue } from "@/lib/format";
import { TableFrame } from "@/ui/TableFrame";
import type { ConflictRow } from "./conflict";
import { targetLabel } from "./labels";

interface Props {
  rows: ConflictRow[];
  /** The draft cannot be sent as it is. */
  faulty: boolean;
  onTheirs: () => void;
  onMine: () => void;
  onDiscard: () => void;
}

export function ConflictPanel({ rows, faulty, onTheirs, onMine, onDiscard }: Props) {
  const overlap = rows.some(row => row.theirs !== null && row.mine !== undefined);
  return (
    <Alert
      color="yellow"
      mt={8}
      p="xs"
      title={overlap ? "Someone else has changed this too" : "Someone else has changed the run"}
      data-testid="control-conflict"
    >
      <TableFrame label="Theirs and mine">
        <Table fz="xs" verticalSpacing={4} horizontalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col" pos="relative">
                <VisuallyHidden>Field</VisuallyHidden>
              </Table.Th>
              <Table.Th scope="col">Theirs</Table.Th>
              <Table.Th scope="col">Mine</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(row => (
              <Table.Tr key={row.target} data-testid="conflict-row" data-target={row.target}>
                <Table.Th scope="row" fw={500}>
                  {targetLabel(row.target)}
                </Table.Th>
                <Table.Td>{row.theirs ? <Theirs row={row} theirs={row.theirs} /> : "not changed"}</Table.Td>
                <Table.Td className="num">{row.mine === undefined ? "not changed" : formatValue(row.mine)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
      {!overlap && (
        <Text size="xs" mt={4}>
          Your draft is about other fields. It is checked again, with theirs, when you apply it.
        </Text>
      )}
      <Group gap={6} mt={6}>
        <Button size="compact-xs" variant="default" onClick={overlap ? onTheirs : onDiscard}>
          {overlap ? "Take theirs" : "Discard mine"}
        </Button>
        <Button size="compact-xs" onClick={onMine} disabled={faulty}>
          {overlap ? "Apply mine over theirs" : "Apply mine as well"}
        </Button>
      </Group>
    </Alert>
  );
}

function Theirs({ row, theirs }: { row: ConflictRow; theirs: Control }) {
  return (
    <>
      <span className="num">
        {formatValue(row.before)} → {formatValue(theirs.value)}
      </span>
      {(theirs.state === "cancelled" || theirs.state === "rejected") && ` (${theirs.state})`}
      <Text size="xs">
        {theirs.actor}, {formatTime(theirs.created_at)}
        {theirs.reason && ` – “${theirs.reason}”`}
      </Text>
    </>
  );
}
