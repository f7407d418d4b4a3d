/** The values of a chart as a table, newest first. */
import { ScrollArea, Table } from "@mantine/core";
import type { MetricSeries, XAxis } from "@/api/model";
import { formatNumber } from "@/lib/format";
import { align } from "./align";
import { AXIS_NAMES, formatX, type LineStyle } from "./options";

interface Props {
  title: string;
  lines: LineStyle[];
  series: (MetricSeries | undefined)[];
  xAxis: XAxis;
  height: number;
}

const MOST_ROWS = 500;

export function ChartTable({ title, lines, series, xAxis, height }: Props) {
  const { x, mean } = align(series, []);
  const rows = x.map((_, index) => x.length - 1 - index).slice(0, MOST_ROWS);
  return (
    <ScrollArea h={height} type="auto">
      <Table stickyHeader verticalSpacing={2} horizontalSpacing={8} fz="xs" aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{AXIS_NAMES[xAxis]}</Table.Th>
            {lines.map(line => (
              <Table.Th key={line.key} ta="right">
                {line.label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(index => (
            <Table.Tr key={index}>
              <Table.Td>{formatX(x[index] as number, xAxis)}</Table.Td>
              {lines.map((line, at) => (
                <Table.Td key={line.key} ta="right">
                  {formatNumber(mean[at]?.[index])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}
