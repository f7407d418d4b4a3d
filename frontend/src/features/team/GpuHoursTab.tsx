/** The team's use of its GPU hours this month. */
import { Alert, Paper, Progress, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { GpuHours } from "@/api/model";
import { gpuHoursQuery } from "@/entities/clusters/queries";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { TableFrame } from "@/ui/TableFrame";
import { TextLink } from "@/ui/TextLink";

const hours = (value: number) => `${value.toLocaleString("en-GB", { maximumFractionDigits: 2 })} h`;

export function GpuHoursTab() {
  const query = useQuery(gpuHoursQuery);
  return <Loaded query={query}>{found => <Used found={found} />}</Loaded>;
}

function Used({ found }: { found: GpuHours }) {
  const { percent } = found;
  const spent = percent !== null && percent >= 100;
  return (
    <>
      {spent && (
        <Alert color="red" mb="md" title="This month’s GPU hours are used up">
          Runs on GPUs are checkpointed and paused, and new ones are queued. The installation’s operator can raise the
          limit.
        </Alert>
      )}
      <Paper p="md" mb="md" data-testid="gpu-hours">
        <Facts
          facts={[
            [`Used in ${found.month}`, hours(found.used)],
            ["Limit", found.limit === null ? "none" : hours(found.limit)],
            ["Resets", found.resets_at.slice(0, 10)],
          ]}
        />
        {percent !== null && (
          <Progress
            value={Math.min(100, percent)}
            mt="sm"
            color={percent >= 95 ? "red" : percent >= 80 ? "yellow" : undefined}
            aria-label={`${Math.floor(percent)} % of the GPU hours are used`}
          />
        )}
        <Text size="xs" c="dimmed" mt="sm">
          Reserved GPUs count for as long as a run holds them, including while it is paused with its slot. CPU hours do
          not count.
        </Text>
      </Paper>
      {found.runs.length > 0 && (
        <TableFrame label="Runs by GPU hours">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Run</Table.Th>
                <Table.Th ta="right">GPU hours</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {found.runs.map(run => (
                <Table.Tr key={run.run}>
                  <Table.Td>
                    <TextLink to="/runs/$runId" params={{ runId: run.run }}>
                      {run.name}
                    </TextLink>
                  </Table.Td>
                  <Table.Td ta="right" className="num">
                    {hours(run.hours)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </TableFrame>
      )}
    </>
  );
}
