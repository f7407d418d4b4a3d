/** Samples in rows, definitions side by side. */
import { Badge, Group, Table, Text, Tooltip } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import type { BenchJob, BenchScore } from "@/api/model";
import { DASH, formatNumber } from "@/lib/format";
import { Nothing } from "@/ui/Nothing";
import { TableFrame } from "@/ui/TableFrame";
import ui from "@/ui/ui.module.css";
import { type BenchRow, errorParts, formatLatency, promptOf, probeName, sampleNumber, type Shown } from "./bench";
import classes from "./bench.module.css";

interface Props {
  job: BenchJob;
  rows: BenchRow[];
  shown: Shown;
  onOpen: (row: BenchRow) => void;
}

const NONE: Record<Shown, string> = {
  all: "This bench has no samples.",
  flips: "No verdict changes: both definitions agree on what succeeds.",
  errors: "No errors.",
  probes: "This bench was run without probes.",
  flagged: "No probe counts as a success.",
};

export function BenchTable({ job, rows, shown, onOpen }: Props) {
  const stored = job.samples.some(sample => sample.stored?.reward !== undefined);
  const two = job.definitions.length === 2;
  if (rows.length === 0) return <Nothing>{NONE[shown]}</Nothing>;
  return (
    <TableFrame label="Scores">
      <Table highlightOnHover verticalSpacing={5} data-testid="bench-table">
        <Table.Thead>
          <Table.Tr>
            <Table.Th rowSpan={2}>Sample</Table.Th>
            <Table.Th rowSpan={2}>Completion</Table.Th>
            {stored && (
              <Table.Th rowSpan={2} ta="right">
                In the run
              </Table.Th>
            )}
            {job.definitions.map((definition, index) => (
              <Table.Th key={index} colSpan={3} className={`mono ${classes.first}`} scope="colgroup">
                {definition.label}
              </Table.Th>
            ))}
            {two && (
              <Table.Th rowSpan={2} className={classes.first}>
                Change
              </Table.Th>
            )}
          </Table.Tr>
          <Table.Tr>
            {job.definitions.flatMap((_, index) => [
              <Table.Th key={`${index}-reward`} className={classes.first}>
                Reward
              </Table.Th>,
              <Table.Th key={`${index}-parts`}>Parts</Table.Th>,
              <Table.Th key={`${index}-time`} ta="right">
                Latency
              </Table.Th>,
            ])}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(row => (
            <Table.Tr
              key={row.sample.id}
              className={ui.row}
              tabIndex={0}
              onClick={() => onOpen(row)}
              onKeyDown={event => event.key === "Enter" && onOpen(row)}
              data-testid="bench-row"
              data-sample={row.sample.id}
              data-flip={row.flip ?? undefined}
              data-probe={row.sample.probe ?? undefined}
              data-flagged={row.flags.length > 0 || undefined}
            >
              <Table.Td>
                <SampleName row={row} />
              </Table.Td>
              <Table.Td>
                <div className={classes.text} title={row.sample.output_text.slice(0, 2000)}>
                  {row.sample.output_text || (
                    <Text span inherit c="dimmed">
                      (empty)
                    </Text>
                  )}
                </div>
                <Text size="xs" c="dimmed" className={classes.text} style={{ fontSize: 11 }}>
                  {promptOf(row.sample.item)}
                </Text>
              </Table.Td>
              {stored && <Table.Td ta="right">{storedReward(row)}</Table.Td>}
              {row.scores.flatMap((score, index) => [
                <Table.Td key={`${index}-reward`} className={classes.first}>
                  <Reward score={score} />
                </Table.Td>,
                <Table.Td key={`${index}-parts`}>
                  <Parts score={score} />
                </Table.Td>,
                <Table.Td key={`${index}-time`} ta="right" c="dimmed">
                  {formatLatency(score?.seconds)}
                </Table.Td>,
              ])}
              {two && (
                <Table.Td className={classes.first}>
                  <Change row={row} />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}

function SampleName({ row: { sample, flags } }: { row: BenchRow }) {
  const warning = flags.find(flag => flag.severity === "warn") ?? flags[0];
  if (sample.probe === null) {
    return (
      <Text size="sm" c="dimmed">
        {sampleNumber(sample.id)}
      </Text>
    );
  }
  return (
    <Group gap={4} wrap="nowrap">
      <Badge color="gray">probe: {probeName(sample.probe)}</Badge>
      {warning && (
        <Tooltip label={warning.detail}>
          <Badge color={warning.severity === "warn" ? "yellow" : "petrol"}>flagged</Badge>
        </Tooltip>
      )}
    </Group>
  );
}

/** The reward and whether it counts as a success, or the error in its place. */
export function Reward({ score }: { score: BenchScore | null }) {
  if (score === null) return DASH;
  if (score.error !== null) {
    return (
      <Tooltip label={errorParts(score).message}>
        <Badge color="red">error</Badge>
      </Tooltip>
    );
  }
  return (
    <Group gap={6} wrap="nowrap">
      {score.success ? (
        <IconCheck size={14} color="var(--c-good)" aria-label="success" />
      ) : (
        <IconX size={14} color="var(--c-text-3)" aria-label="no success" />
      )}
      <Text size="sm" fw={600} className="num">
        {formatNumber(score.reward, 3)}
      </Text>
    </Group>
  );
}

function Parts({ score }: { score: BenchScore | null }) {
  const parts = Object.entries(score?.parts ?? {});
  const text = parts.map(([name, grade]) => `${name} ${formatNumber(grade, 3)}`).join(" · ");
  return (
    <div className={`num ${classes.parts}`} title={text}>
      {text}
      {score && score.forgiven.length > 0 && (
        <Text span inherit c="var(--c-warn)">
          {" "}
          failed, counts as 0: {score.forgiven.join(", ")}
        </Text>
      )}
    </div>
  );
}

const FLIPS = { gained: "now a success", lost: "no longer a success", unclear: "one of them failed" };

function Change({ row: { flip, change } }: { row: BenchRow }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" className="num" c={change === 0 ? "dimmed" : undefined} miw={44}>
        {change === null ? DASH : `${change > 0 ? "+" : ""}${formatNumber(change, 3)}`}
      </Text>
      {flip && (
        <Badge color={flip === "gained" ? "green" : flip === "lost" ? "red" : "yellow"} data-testid="flip">
          {FLIPS[flip]}
        </Badge>
      )}
    </Group>
  );
}

function storedReward({ sample: { stored } }: BenchRow): string {
  if (!stored || stored.reward === undefined) return DASH;
  return stored.reward === null ? "error" : formatNumber(stored.reward, 3);
}
