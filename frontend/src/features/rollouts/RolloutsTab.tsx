/** Stored rollouts: a row per group that opens it, and actions on those that match the filters. */
import { Group } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Run } from "@/api/model";
import type { RunSearch } from "@/entities/runs/search";
import { toggled } from "@/lib/toggled";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { ShowMore } from "@/ui/ShowMore";
import { TableSkeleton } from "@/ui/TableSkeleton";
import ui from "@/ui/ui.module.css";
import { DatasetButton } from "./DatasetButton";
import { ExportMenu } from "./ExportMenu";
import { GroupDrawer } from "./GroupDrawer";
import { GroupFilters } from "./GroupFilters";
import { groupKey, GroupTable } from "./GroupTable";
import { KeptNote } from "./KeptNote";
import { groupsQuery } from "./queries";
import { RescoreButton } from "./RescoreButton";
import { WorstTokens } from "./WorstTokens";

export function RolloutsTab({ run }: { run: Run }) {
  const search = useSearch({ from: "/app/runs/$runId" });
  const { step, first, last, source, prompt, min, max, q, only } = search;
  const filter = { step, first, last, source, prompt, min, max, q, only };
  const filtered = Object.values(filter).some(one => one !== undefined);
  const navigate = useNavigate({ from: "/runs/$runId" });
  const groups = useInfiniteQuery(groupsQuery(run.id, filter));
  const set = (change: Partial<RunSearch>) =>
    void navigate({ search: previous => ({ ...previous, ...change }), replace: true, resetScroll: false });
  const [picked, setPicked] = useState<string[]>([]);
  const found = groups.data?.pages.flatMap(page => page.data) ?? [];
  const chosen = found.filter(group => picked.includes(groupKey(group)));
  return (
    <>
      <div className={ui.toolbar}>
        <GroupFilters search={search} spec={run.spec} onChange={set} />
        <Group gap="sm" ml="auto">
          <ExportMenu runId={run.id} filter={filter} />
          <DatasetButton run={run} filter={filter} some={found.length > 0} />
          <RescoreButton run={run} chosen={chosen} filter={filter} some={found.length > 0} />
        </Group>
      </div>
      <KeptNote runId={run.id} />
      <WorstTokens runId={run.id} onOpen={token => set({ ...token, overlay: "gap" })} />
      <Loaded query={groups} skeleton={<TableSkeleton rows={10} />}>
        {() =>
          found.length === 0 && !groups.hasNextPage ? (
            <Nothing>
              {filtered
                ? "No stored rollouts match this filter."
                : "No rollouts yet. They appear after the first step."}
            </Nothing>
          ) : (
            <GroupTable
              groups={found}
              picked={picked}
              onPick={key => setPicked(toggled(picked, key, Infinity))}
              onTokens={(group, sample) =>
                set({ group: `${group.group_id}:${sample.sample}`, token: undefined, overlay: "gap" })
              }
              onOpen={(group, sample) =>
                set({ group: `${group.group_id}:${sample.sample}`, token: undefined, overlay: undefined })
              }
            />
          )
        }
      </Loaded>
      <ShowMore query={groups} />
      <GroupDrawer run={run} search={search} onChange={set} />
    </>
  );
}
