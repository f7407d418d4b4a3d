/** A table with one column per run. */
import { Table, Text, Title, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
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
  testId: string;
}

export function RunColumns({ title, description, runs, rows, testId }: Props) {
  const named = labels(runs);
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
              {rows.map(({ key, head, cells }) => (
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
    </div>
  );
}
