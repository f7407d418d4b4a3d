/** Changes by others since the draft was started, next to the draft, so that nothing is overwritten unseen. */
import { Alert, Button, Group, Table, Text } from "@mantine/core";
import type { Control } from "@/api/model";
import { formatTime, formatValue } from "@/lib/format";
import type { ConflictRow } from "./conflict";
import classes from "./controls.module.css";
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
      {/* Fixed columns, and a field's name above its two cells: the rail is narrow, and mine must be in sight. */}
      <Table fz="xs" layout="fixed" verticalSpacing={3} horizontalSpacing={4} aria-label="Theirs and mine">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col" w="64%">
              Theirs
            </Table.Th>
            <Table.Th scope="col">Mine</Table.Th>
          </Table.Tr>
        </Table.Thead>
        {rows.map(row => (
          <Table.Tbody
            key={row.target}
            className={classes.conflict}
            data-testid="conflict-row"
            data-target={row.target}
          >
            <Table.Tr>
              <Table.Th scope="rowgroup" colSpan={2} fw={500}>
                {targetLabel(row.target)}
              </Table.Th>
            </Table.Tr>
            <Table.Tr>
              <Table.Td>{row.theirs ? <Theirs row={row} theirs={row.theirs} /> : "not changed"}</Table.Td>
              <Table.Td className="num">{row.mine === undefined ? "not changed" : formatValue(row.mine)}</Table.Td>
            </Table.Tr>
          </Table.Tbody>
        ))}
      </Table>
      {!overlap && (
        <Text size="xs" mt={4}>
          Your draft changes other fields. It is checked again with theirs when you apply it.
        </Text>
      )}
      <Group gap={6} mt={6}>
        <Button size="compact-xs" variant="default" onClick={overlap ? onTheirs : onDiscard}>
          {overlap ? "Use theirs" : "Discard mine"}
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
