/** Downloads of the kept rollouts that fit the filters. */
import { Button, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { type GroupFilter, groupParams } from "./queries";

export function ExportMenu({ runId, filter }: { runId: string; filter: GroupFilter }) {
  return (
    <Menu>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconDownload size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={exportHref(runId, filter, "jsonl")} download>
          JSON Lines, with tokens
        </Menu.Item>
        <Menu.Item component="a" href={exportHref(runId, filter, "parquet")} download>
          Parquet, with tokens
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export function exportHref(runId: string, filter: GroupFilter, format: "jsonl" | "parquet"): string {
  const known = Object.entries(groupParams(filter)).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(known.map(([name, value]) => [name, String(value)]));
  query.set("type", format);
  return `/api/v1/runs/${runId}/rollouts/export?${query.toString()}`;
}
