/** A table with one column per run. */
import { Button, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Run } from "@/api/model";
import { LineSwatch } from "@/features/charts/ChartLegend";
import { TableFrame } from "@/ui/TableFrame";
import classes from "./overlay.module.css";
import { labels, runStyle } from "./overlay";

interface Row {
  key: string;
  head: ReactNode;
  cells: ReactNode[];
}

interface Props {
  title: string;
  description: ReactNode;
  runs: Run[];
  rows: Row[];
  /** Rows shown before expanding; all if undefined. */
  few?: number;
  testId: string;
}

export function RunColumns({ title, description, runs, rows, few, testId }: Props) {
  const named = labels(runs);
  const [isWhole, setWhole] = useState(false);
  // A row that is more is no reason to fold: the button takes as much room.
  const isFolded = few !== undefined && rows.length > few + 1;
  const shown = isFolded && !isWhole ? rows.slice(0, few) : rows;
  return (
    <div style={{ marginBottom: 16 }}>
      <Title order={2}>{title}</Title>
      <Text size="xs" c="dimmed" mb={6}>
        {description}
      </Text>
      {rows.length > 0 && (
        <TableFrame label={title}>
          <Table verticalSpacing={5} fz="sm" data-testid={testId}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th className={classes.first}>
                  <VisuallyHidden>Of each run</VisuallyHidden>
                </Table.Th>
                {runs.map((run, place) => (
                  <Table.Th key={run.id} title={run.name}>
                    <span className={classes.columnHead}>
                      <LineSwatch line={{ key: run.id, label: run.name, ...runStyle(place) }} />
                      {named[place]}
                    </span>
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map(({ key, head, cells }) => (
                <Table.Tr key={key} data-key={key}>
                  <Table.Th scope="row" className={classes.first}>
                    {head}
                  </Table.Th>
                  {cells.map((cell, place) => (
                    <Table.Td key={runs[place]?.id ?? place}>{cell}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </TableFrame>
      )}
      {isFolded && (
        <Button size="compact-xs" variant="subtle" mt={4} aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? `Only ${few}` : `All ${rows.length}`}
        </Button>
      )}
    </div>
  );
}
