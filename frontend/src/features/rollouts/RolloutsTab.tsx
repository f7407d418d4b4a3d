/** Sampled rollouts with their reward parts; filters live in the address. */
import { Button, Checkbox, Group, NumberInput, Pill, Select, Table, Text, VisuallyHidden } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Rollout, Run, Spec } from "@/api/model";
import { MAX_SAMPLES } from "@/features/rewards/samples/samples";
import { rolloutsQuery } from "@/features/runs/data/queries";
import type { RunSearch } from "@/features/runs/data/search";
import { getIn } from "@/features/schema-form/pointer";
import { DASH, formatNumber } from "@/lib/format";
import { toggled } from "@/lib/toggled";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { ShowMore } from "@/ui/ShowMore";
import { TableFrame } from "@/ui/TableFrame";
import { TableSkeleton } from "@/ui/TableSkeleton";
import ui from "@/ui/ui.module.css";
import { RescoreButton } from "./RescoreButton";
import { RewardCell } from "./RewardCell";
import { RolloutDrawer } from "./RolloutDrawer";
import classes from "./rollouts.module.css";
import { WorstTokens } from "./WorstTokens";

const NO_FILTER = { step: undefined, source: undefined, prompt: undefined, min: undefined, group: undefined };
const CLEAR = { "aria-label": "Show all prompts", tabIndex: 0 };

export function RolloutsTab({ run }: { run: Run }) {
  const { step, source, prompt, min, group } = useSearch({ from: "/app/runs/$runId" });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const rollouts = useInfiniteQuery(rolloutsQuery(run.id, { step, source, prompt, min }));
  const [picked, setPicked] = useState<string[]>([]);
  const set = (change: Partial<RunSearch>) =>
    void navigate({ search: previous => ({ ...previous, ...change }), replace: true, resetScroll: false });
  const rows = rollouts.data?.pages.flatMap(page => page.data) ?? [];
  const filtered = step !== undefined || source !== undefined || prompt !== undefined || min !== undefined;
  return (
    <>
      <div className={ui.toolbar}>
        <NumberInput
          size="xs"
          w={110}
          aria-label="Step"
          placeholder="Any step"
          min={0}
          value={step ?? ""}
          onChange={value => set({ step: typeof value === "number" ? value : undefined, group: undefined })}
        />
        <Select
          size="xs"
          w={150}
          aria-label="Source"
          placeholder="Any source"
          data={sources(run.spec)}
          value={source ?? null}
          onChange={value => set({ source: value ?? undefined })}
          clearable
        />
        <NumberInput
          size="xs"
          w={130}
          aria-label="Lowest reward"
          placeholder="Any reward"
          prefix="≥ "
          step={0.1}
          decimalScale={3}
          value={min ?? ""}
          onChange={value => set({ min: typeof value === "number" ? value : undefined })}
        />
        {prompt !== undefined && (
          <Pill
            withRemoveButton
            onRemove={() => set({ prompt: undefined, group: undefined })}
            removeButtonProps={CLEAR}
          >
            prompt {prompt}
          </Pill>
        )}
        {filtered && (
          <Button size="compact-xs" variant="subtle" onClick={() => set(NO_FILTER)}>
            Clear
          </Button>
        )}
        <Group gap="sm" ml="auto">
          <Text size="xs" c="dimmed" visibleFrom="md">
            Four groups of each step are kept
          </Text>
          <RescoreButton run={run} rows={rows} picked={picked} />
        </Group>
      </div>
      <WorstTokens runId={run.id} />
      <Loaded query={rollouts} skeleton={<TableSkeleton rows={10} />}>
        {() =>
          rows.length === 0 ? (
            <Nothing>
              {filtered ? "No kept rollout fits this filter." : "No rollouts yet. They appear after the first step."}
            </Nothing>
          ) : (
            <RolloutTable
              rows={rows}
              picked={picked}
              onPick={id => setPicked(toggled(picked, id, MAX_SAMPLES))}
              onOpen={row => set({ group: `${row.group_id}:${row.sample}` })}
            />
          )
        }
      </Loaded>
      <ShowMore query={rollouts} />
      <RolloutDrawer run={run} selected={group ?? null} onSelect={next => set({ group: next ?? undefined })} />
    </>
  );
}

interface TableProps {
  rows: Rollout[];
  /** Ids of those to be scored again. */
  picked: string[];
  onPick: (id: string) => void;
  onOpen: (row: Rollout) => void;
}

function RolloutTable({ rows, picked, onPick, onOpen }: TableProps) {
  return (
    <TableFrame label="Rollouts">
      <Table highlightOnHover data-testid="rollouts-table" verticalSpacing={5}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={32} pos="relative">
              <VisuallyHidden>Chosen</VisuallyHidden>
            </Table.Th>
            <Table.Th ta="right">Step</Table.Th>
            <Table.Th>Source</Table.Th>
            <Table.Th>Prompt</Table.Th>
            <Table.Th>Completion</Table.Th>
            <Table.Th>Reward</Table.Th>
            <Table.Th ta="right">Advantage</Table.Th>
            <Table.Th ta="right">Length</Table.Th>
            <Table.Th ta="right">Thinking</Table.Th>
            <Table.Th>End</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(row => (
            <Table.Tr
              key={`${row.attempt ?? 0}-${row.group_id}-${row.sample}`}
              className={ui.row}
              tabIndex={0}
              onClick={() => onOpen(row)}
              onKeyDown={event => event.key === "Enter" && event.target === event.currentTarget && onOpen(row)}
            >
              <Table.Td onClick={event => event.stopPropagation()}>
                <Checkbox
                  size="xs"
                  aria-label={`Choose ${row.group_id}, sample ${row.sample + 1}`}
                  checked={picked.includes(row.id)}
                  disabled={picked.length >= MAX_SAMPLES && !picked.includes(row.id)}
                  onChange={() => onPick(row.id)}
                />
              </Table.Td>
              <Table.Td ta="right">{row.step}</Table.Td>
              <Table.Td className="mono">{row.source}</Table.Td>
              <Table.Td>
                <div className={classes.text} style={{ maxWidth: 200 }} title={row.prompt}>
                  {row.prompt}
                </div>
              </Table.Td>
              <Table.Td>
                <div className={classes.text} title={row.completion}>
                  {row.completion}
                </div>
              </Table.Td>
              <Table.Td>
                <RewardCell row={row} />
              </Table.Td>
              <Table.Td ta="right">{row.excluded ? DASH : formatNumber(row.advantage, 3)}</Table.Td>
              <Table.Td ta="right">{row.length}</Table.Td>
              <Table.Td ta="right" c={row.budget_hit ? "var(--c-control)" : undefined}>
                {row.thinking_tokens}
                {row.budget_hit && <span className="sr-only"> cut by the budget</span>}
              </Table.Td>
              <Table.Td>{row.budget_hit ? "budget" : row.finish_reason}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}

function sources(spec: Spec | undefined): string[] {
  const found = getIn(spec, ["data", "sources"]);
  return Array.isArray(found) ? found.map((_, index) => String(getIn(found, [index, "name"]))) : [];
}
