/** Difference of two versions: rows added, removed and changed, with the columns that differ. */
import { Badge, Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Json, RowDiff } from "@/api/model";
import { diffQuery } from "@/entities/datasets/queries";
import { Loaded } from "@/ui/Loaded";
import { MarkedText } from "@/ui/MarkedText";
import { Nothing } from "@/ui/Nothing";
import { Placeholder } from "@/ui/Placeholder";
import { ScrollCell } from "@/ui/ScrollCell";
import { ShowMore } from "@/ui/ShowMore";
import { cellText } from "./cell-text";

const COLOURS = { added: "green", removed: "red", changed: "yellow" } as const;

interface Props {
  datasetId: string;
  version: number;
  against: number;
  onClose: () => void;
}

export function VersionDiff({ datasetId, version, against, onClose }: Props) {
  const query = useInfiniteQuery(diffQuery(datasetId, version, against));
  return (
    <Paper component="section" p="md" mb="md" aria-label="Difference" data-testid="version-diff">
      <Group justify="space-between" mb="sm">
        <Title order={2}>
          Version {against} → version {version}
        </Title>
        <Button size="xs" variant="default" onClick={onClose}>
          Show rows
        </Button>
      </Group>
      <Loaded query={query} skeleton={<Placeholder height={160} />}>
        {({ pages }) => <Differences counts={pages[0]!.counts} rows={pages.flatMap(page => page.data)} />}
      </Loaded>
      <ShowMore query={query} label="Show 50 more" />
    </Paper>
  );
}

interface DifferencesProps {
  counts: { added: number; removed: number; changed: number; equal: number };
  rows: RowDiff[];
}

export function Differences({ counts, rows }: DifferencesProps) {
  return (
    <Stack gap="sm">
      <Text size="sm" className="num">
        {(["added", "removed", "changed", "equal"] as const)
          .map(kind => `${counts[kind].toLocaleString("en-GB")} ${kind}`)
          .join(", ")}
      </Text>
      {rows.length === 0 && <Nothing>Both versions have the same rows. Their order may differ.</Nothing>}
      {rows.map(row => (
        <OneRow key={`${row.change} ${row.before_index ?? ""} ${row.after_index ?? ""}`} row={row} />
      ))}
    </Stack>
  );
}

function OneRow({ row }: { row: RowDiff }) {
  return (
    <Paper withBorder p="xs" component="article" aria-label={`${row.change} ${row.id}`}>
      <Group gap="xs" mb={4}>
        <Badge color={COLOURS[row.change]} variant="light">
          {row.change}
        </Badge>
        <Text size="sm" className="mono" style={{ overflowWrap: "anywhere" }}>
          {row.id}
        </Text>
        <Text size="xs" c="dimmed">
          {places(row)}
        </Text>
      </Group>
      {row.change === "changed" ? <Fields row={row} /> : <Whole row={row.after ?? row.before ?? {}} />}
    </Paper>
  );
}

function Fields({ row }: { row: RowDiff }) {
  if (row.fields.length === 0)
    return (
      <Text size="sm" c="dimmed">
        Only the order of its columns differs.
      </Text>
    );
  return row.fields.map(field => (
    <div key={field.name}>
      <Text size="xs" c="dimmed" className="mono">
        {field.name}
      </Text>
      {field.change !== "added" && (
        <ScrollCell>
          <del>
            <MarkedText>{cellText(field.name, field.before as Json)}</MarkedText>
          </del>
        </ScrollCell>
      )}
      {field.change !== "removed" && (
        <ScrollCell>
          <ins>
            <MarkedText>{cellText(field.name, field.after as Json)}</MarkedText>
          </ins>
        </ScrollCell>
      )}
    </div>
  ));
}

function Whole({ row }: { row: { [column: string]: unknown } }) {
  return Object.entries(row).map(([column, value]) => (
    <div key={column}>
      <Text size="xs" c="dimmed" className="mono">
        {column}
      </Text>
      <ScrollCell>
        <MarkedText>{cellText(column, value as Json)}</MarkedText>
      </ScrollCell>
    </div>
  ));
}

/** Where a row stood and stands, counted from 1 as the table of rows does. */
function places({ before_index, after_index }: RowDiff): string {
  if (before_index === null) return `row ${Number(after_index) + 1}`;
  if (after_index === null) return `was row ${before_index + 1}`;
  return before_index === after_index
    ? `row ${after_index + 1}`
    : `was row ${before_index + 1}, is row ${after_index + 1}`;
}
