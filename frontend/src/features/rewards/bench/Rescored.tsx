/** Stored rollouts under a definition: what would change, in figures, by group and by sample. */
import { Badge, Button, Group, Paper, Table, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { BenchJob, Rescored as RescoredDocument } from "@/api/model";
import { DASH, formatNumber } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { TableFrame } from "@/ui/TableFrame";
import ui from "@/ui/ui.module.css";
import { sampleNumber } from "./bench";
import { FIRST_ROWS, groupName, matchedText } from "./rescored";

interface Props {
  job: Pick<BenchJob, "rescored" | "source">;
  onOpen: (sample: string) => void;
}

export function Rescored({ job, onOpen }: Props) {
  if (job.rescored.length === 0) return null;
  const taken = matchedText(job.source);
  return (
    <section aria-label="Against the run" data-testid="rescored">
      <Title order={2} mb={4}>
        Against the run
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        {taken && `${taken} `}Both rewards without the run's shaping. Advantages compare within the group's scored
        samples; samples without one of the two rewards are left out.
      </Text>
      {job.rescored.map((found, index) => (
        <Definition key={index} found={found} onOpen={onOpen} />
      ))}
    </section>
  );
}

function Definition({ found, onOpen }: { found: RescoredDocument; onOpen: (sample: string) => void }) {
  const groups = found.groups.length;
  const pair = (before: number | null, after: number | null) =>
    `${formatNumber(before, 3)} → ${formatNumber(after, 3)}`;
  return (
    <Paper p="md" mb="sm" component="section" aria-label={`Under ${found.label}`} data-testid="rescored-definition">
      <Title order={3} mb="xs" className="mono">
        {found.label}
      </Title>
      <Facts
        facts={[
          ["Samples that change", `${found.changed} of ${found.compared}`],
          ["Mean reward", pair(found.mean_before, found.mean_after)],
          ["Verdicts that change", `${found.verdicts_changed} of ${found.compared}`],
          ["Advantages that change sign", `${found.flips} of ${found.compared}`],
          ["Groups without signal", `${found.dead_before} → ${found.dead_after} of ${groups}`],
          ["Not compared: a reward failed", String(found.failed)],
        ]}
      />
      <Samples found={found} onOpen={onOpen} />
      {groups > 0 && <Groups found={found} />}
    </Paper>
  );
}

function Samples({ found, onOpen }: { found: RescoredDocument; onOpen: (sample: string) => void }) {
  const [all, setAll] = useState(false);
  const rows = all ? found.samples : found.samples.slice(0, FIRST_ROWS);
  return (
    <>
      <TableFrame label={`Samples under ${found.label}, largest change first`}>
        <Table highlightOnHover verticalSpacing={4} mt="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Sample</Table.Th>
              <Table.Th>Group</Table.Th>
              <Table.Th ta="right">In the run</Table.Th>
              <Table.Th ta="right">Now</Table.Th>
              <Table.Th ta="right">Change</Table.Th>
              <Table.Th ta="right">Advantage</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(row => (
              <Table.Tr
                key={row.sample}
                className={ui.row}
                tabIndex={0}
                aria-label={`Sample ${sampleNumber(row.sample)}: its parts`}
                onClick={() => onOpen(row.sample)}
                onKeyDown={event => event.key === "Enter" && onOpen(row.sample)}
                data-testid="rescored-row"
              >
                <Table.Td>{sampleNumber(row.sample)}</Table.Td>
                <Table.Td className="mono">{groupName(row.group)}</Table.Td>
                <Table.Td ta="right">{row.before === null ? "error" : formatNumber(row.before, 3)}</Table.Td>
                <Table.Td ta="right">{row.after === null ? "error" : formatNumber(row.after, 3)}</Table.Td>
                <Table.Td ta="right" style={{ whiteSpace: "nowrap" }}>
                  {signed(row.change)}{" "}
                  {row.verdict_changes && (
                    <Badge color={row.success_after ? "green" : "red"}>
                      {row.success_after ? "now a success" : "no longer a success"}
                    </Badge>
                  )}
                </Table.Td>
                <Table.Td ta="right" style={{ whiteSpace: "nowrap" }}>
                  {signed(row.advantage_before)} → {signed(row.advantage_after)}{" "}
                  {row.flips && <Badge color="grape">sign changes</Badge>}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
      {!all && found.samples.length > FIRST_ROWS && (
        <Group justify="center" mt={6}>
          <Button size="compact-xs" variant="subtle" onClick={() => setAll(true)}>
            Show all {found.samples.length}
          </Button>
        </Group>
      )}
    </>
  );
}

function Groups({ found }: { found: RescoredDocument }) {
  return (
    <details style={{ marginTop: 8 }}>
      <summary style={{ fontSize: 12, cursor: "pointer" }}>By group</summary>
      <TableFrame label={`Groups under ${found.label}`}>
        <Table verticalSpacing={3} fz="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Group</Table.Th>
              <Table.Th ta="right">Samples</Table.Th>
              <Table.Th ta="right">Mean</Table.Th>
              <Table.Th ta="right">Verdicts that change</Table.Th>
              <Table.Th ta="right">Signs that change</Table.Th>
              <Table.Th>Signal</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {found.groups.map(group => (
              <Table.Tr key={group.group}>
                <Table.Td className="mono">{groupName(group.group)}</Table.Td>
                <Table.Td ta="right">{group.samples}</Table.Td>
                <Table.Td ta="right">
                  {formatNumber(group.mean_before, 3)} → {formatNumber(group.mean_after, 3)}
                </Table.Td>
                <Table.Td ta="right">{group.verdicts_changed}</Table.Td>
                <Table.Td ta="right">{group.flips}</Table.Td>
                <Table.Td>
                  {group.dead_before ? "no" : "yes"} → {group.dead_after ? "no" : "yes"}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
    </details>
  );
}

function signed(value: number | null): string {
  if (value === null) return DASH;
  return `${value > 0 ? "+" : ""}${formatNumber(value, 3)}`;
}
