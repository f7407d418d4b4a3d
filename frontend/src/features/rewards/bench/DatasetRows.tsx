/** Rows of a dataset version, picked in a preview. Each is answered by its own reference. */
import { Button, Checkbox, Group, Paper, Select, Stack, Table, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { errorText } from "@/api/http";
import type { DatasetRow } from "@/api/model";
import { datasetsQuery, rowsQuery } from "@/entities/datasets/queries";
import { MAX_SAMPLES } from "@/features/rewards/samples/samples";
import { toggled } from "@/lib/toggled";
import { Loaded } from "@/ui/Loaded";
import { ShowMore } from "@/ui/ShowMore";
import { TableSkeleton } from "@/ui/TableSkeleton";
import { promptOf, type Samples, spread } from "./bench";
import classes from "./bench.module.css";

type Chosen = Extract<Samples, { kind: "dataset" }>;

export function DatasetRows({ chosen, onChange }: { chosen: Chosen; onChange: (next: Chosen) => void }) {
  const datasets = useQuery(datasetsQuery);
  const all = (datasets.data?.data ?? []).flatMap(dataset => dataset.versions.map(version => ({ dataset, version })));
  const found = all.find(one => one.version.ref === chosen.ref);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Select
          flex={1}
          miw={200}
          aria-label="Dataset version"
          placeholder="Choose a dataset version"
          data={all.map(({ dataset, version }) => ({
            value: version.ref,
            label: `${version.ref} · ${dataset.name}, ${version.rows.toLocaleString("en-GB")} rows`,
          }))}
          value={chosen.ref}
          onChange={ref => onChange({ kind: "dataset", ref, rows: [] })}
          searchable
          error={datasets.isError ? errorText(datasets.error) : undefined}
        />
        {found && (
          <Button
            size="xs"
            variant="default"
            onClick={() => onChange({ ...chosen, rows: spread(found.version.rows, MAX_SAMPLES) })}
            data-testid="spread-rows"
          >
            {Math.min(MAX_SAMPLES, found.version.rows)} spread evenly
          </Button>
        )}
        {chosen.rows.length > 0 && (
          <Button size="xs" variant="subtle" onClick={() => onChange({ ...chosen, rows: [] })}>
            None
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        Each row is answered with its own reference: a correct reward gives all of them full marks.
      </Text>
      {found && (
        <Preview
          key={found.version.ref}
          datasetId={found.dataset.id}
          number={found.version.number}
          picked={chosen.rows}
          onToggle={row => onChange({ ...chosen, rows: toggled(chosen.rows, row, MAX_SAMPLES) })}
        />
      )}
    </Stack>
  );
}

interface PreviewProps {
  datasetId: string;
  number: number;
  picked: number[];
  onToggle: (row: number) => void;
}

function Preview({ datasetId, number, picked, onToggle }: PreviewProps) {
  const rows = useInfiniteQuery(rowsQuery(datasetId, number));
  return (
    <>
      <Loaded query={rows} skeleton={<TableSkeleton rows={5} />}>
        {({ pages }) => <RowTable rows={pages.flatMap(page => page.data)} picked={picked} onToggle={onToggle} />}
      </Loaded>
      <ShowMore query={rows} label="Show 50 more" />
    </>
  );
}

function RowTable({ rows, picked, onToggle }: { rows: DatasetRow[] } & Pick<PreviewProps, "picked" | "onToggle">) {
  const full = picked.length >= MAX_SAMPLES;
  return (
    // A box that scrolls must be reachable by keyboard.
    <Paper className={classes.scroll} role="region" aria-label="Rows of the dataset" tabIndex={0}>
      <Table verticalSpacing={3} layout="fixed" data-testid="bench-rows">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={76}>Row</Table.Th>
            <Table.Th>Prompt</Table.Th>
            <Table.Th w="28%">Answer</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ index, row, answer }) => (
            <Table.Tr key={index}>
              <Table.Td>
                <Checkbox
                  size="xs"
                  label={index + 1}
                  aria-label={`Row ${index + 1}`}
                  checked={picked.includes(index)}
                  disabled={full && !picked.includes(index)}
                  onChange={() => onToggle(index)}
                />
              </Table.Td>
              <Table.Td className={classes.line}>{promptOf(row)}</Table.Td>
              <Table.Td className={classes.line}>{answer ?? ""}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
