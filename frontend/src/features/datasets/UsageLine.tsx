/** The team's dataset storage, and its limit. */
import { Group, Progress, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { DatasetUsage } from "@/api/model";
import { usageQuery } from "@/entities/datasets/queries";
import { formatBytes } from "@/lib/format";

/** Percent of the limit from which on there is a warning. */
const NEAR = 80;

export function UsageLine() {
  const { data } = useQuery(usageQuery);
  return (
    <Group gap="xs" mb="sm" mih={22} data-testid="dataset-usage">
      {data && <Usage usage={data} />}
    </Group>
  );
}

export function Usage({ usage }: { usage: DatasetUsage }) {
  const percent = usedPercent(usage);
  const color = percent >= 100 ? "red" : percent >= NEAR ? "yellow" : undefined;
  return (
    <>
      <Text size="xs" c="dimmed">
        {formatBytes(usage.bytes)} of {formatBytes(usage.bytes_limit)}, {usage.rows.toLocaleString("en-GB")} of{" "}
        {usage.rows_limit.toLocaleString("en-GB")} rows are used.
        {percent >= 100 && " Delete unused versions, or ask the installation's operator for more."}
      </Text>
      <Progress w={120} value={Math.min(100, percent)} color={color} aria-label={`${Math.floor(percent)} % are used`} />
    </>
  );
}

/** Share of the limit that is nearer. */
export function usedPercent({ bytes, rows, bytes_limit, rows_limit }: DatasetUsage): number {
  const share = (used: number, limit: number) => (limit > 0 ? (100 * used) / limit : 100);
  return Math.max(share(bytes, bytes_limit), share(rows, rows_limit));
}
