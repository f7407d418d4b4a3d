import { Anchor, Badge, Button, Group, Table, Text, VisuallyHidden } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDownload, IconGitFork } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Checkpoint, Run } from "@/api/model";
import { type Measured, measuredText } from "@/entities/runs/evaluations";
import { checkpointsQuery } from "@/entities/runs/queries";
import { useCan } from "@/features/session/session";
import { DASH, formatAgo, formatBytes, formatNumber } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { TableFrame } from "@/ui/TableFrame";
import { CheckpointExports, ExportCheckpoint } from "./CheckpointExport";
import { CheckpointPolicy } from "./CheckpointPolicy";
import { useHeldOut } from "./heldOut";

const REASONS: Record<string, string> = {
  schedule: "by schedule",
  requested: "manual",
  before_control: "before change",
  final: "at the end",
  release: "before suspending",
};

export function CheckpointsTab({ run }: { run: Run }) {
  const checkpoints = useQuery(checkpointsQuery(run.id));
  return (
    <Loaded query={checkpoints}>
      {({ data }) =>
        data.length === 0 ? (
          <Nothing>No checkpoints yet. They are saved on schedule, before changes and on request.</Nothing>
        ) : (
          <Checkpoints run={run} rows={[...data].sort((a, b) => b.step - a.step)} />
        )
      }
    </Loaded>
  );
}

/** Existing checkpoints; those that retention removed are folded. */
function Checkpoints({ run, rows }: { run: Run; rows: Checkpoint[] }) {
  const editor = useCan("editor");
  const [whole, { toggle }] = useDisclosure(false);
  const results = useHeldOut(run, rows);
  const deleted = rows.filter(isRemoved).length;
  const shown = whole ? rows : rows.filter(row => !isRemoved(row));
  return (
    <>
      <CheckpointExports run={run} editor={editor} />
      <TableFrame label="Checkpoints">
        <Table data-testid="checkpoints-table">
          <Table.Thead>
            <Table.Tr>
              <Table.Th ta="right">Step</Table.Th>
              {results.sources.map(source => (
                <Table.Th key={source} ta="right">
                  Held-out {source}
                </Table.Th>
              ))}
              <Table.Th>Why</Table.Th>
              <Table.Th ta="right">Size</Table.Th>
              <Table.Th>Saved</Table.Th>
              <Table.Th>Manifest</Table.Th>
              <Table.Th pos="relative">
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map(row => (
              <Table.Tr key={row.id}>
                <Table.Td ta="right">{row.step}</Table.Td>
                {results.sources.map(source => (
                  <Result key={source} found={results.of(row, source)} isBest={results.best(source) === row.id} />
                ))}
                <Table.Td>{REASONS[row.reason] ?? row.reason}</Table.Td>
                <Table.Td ta="right">{formatBytes(row.bytes)}</Table.Td>
                <Table.Td title={row.created_at}>{formatAgo(row.created_at)}</Table.Td>
                <Table.Td className="mono" title={row.manifest_sha256}>
                  {row.manifest_sha256.slice(0, 12)}
                </Table.Td>
                <Table.Td>
                  <Actions run={run} row={row} editor={editor} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
      {deleted > 0 && (
        <Button mt="xs" size="compact-xs" variant="subtle" color="gray" aria-expanded={whole} onClick={toggle}>
          {whole ? "Hide" : "Show"} {deleted} removed by retention
        </Button>
      )}
    </>
  );
}

/** What was measured at or before the checkpoint, with its interval; the step where it is another. */
function Result({ found, isBest }: { found: Measured | null; isBest: boolean }) {
  return (
    <Table.Td ta="right" className="num" title={found ? measuredText(found) : "not evaluated by then"}>
      {found === null ? DASH : formatNumber(found.value, 3)}
      {isBest && (
        <Badge size="xs" ml={6} variant="light">
          best
        </Badge>
      )}
    </Table.Td>
  );
}

/** Whether retention has deleted the files. A damaged checkpoint may lack its manifest, and is shown. */
function isRemoved(row: Checkpoint): boolean {
  return row.available === false && !row.damaged;
}

function Actions({ run, row, editor }: { run: Run; row: Checkpoint; editor: boolean }) {
  if (row.damaged) {
    return (
      <Text size="xs" c="red" ta="right" data-testid="damaged-checkpoint">
        damaged: {row.damage}
      </Text>
    );
  }
  if (row.available === false) {
    return (
      <Text size="xs" c="dimmed" ta="right">
        removed by retention
      </Text>
    );
  }
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <Button
        component="a"
        href={`/api/v1/checkpoints/${row.id}/download`}
        download
        size="compact-xs"
        variant="default"
        leftSection={<IconDownload size={13} />}
        data-testid="download-checkpoint"
      >
        Download
      </Button>
      {editor && <ExportCheckpoint run={run} row={row} />}
      {editor && <CheckpointPolicy run={run} row={row} />}
      {editor && (
        <Anchor component={Link} to={`/runs/new?fork=${run.id}&checkpoint=${row.id}`} size="xs">
          <Group gap={4} wrap="nowrap">
            <IconGitFork size={13} /> Fork from here
          </Group>
        </Anchor>
      )}
    </Group>
  );
}
