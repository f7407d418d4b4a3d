/** Stored rollouts of a run, to be scored again. */
import { Button, Checkbox, Group, NumberInput, Paper, Select, Stack, Table, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { errorText } from "@/api/http";
import type { Rollout, Run } from "@/api/model";
import { MAX_MATCHED, MAX_PICKED } from "@/features/rewards/samples/samples";
import { RewardCell } from "@/features/rollouts/RewardCell";
import { samples } from "@/entities/runs/objective";
import { rolloutsQuery, runsQuery } from "@/entities/runs/queries";
import { toggled } from "@/lib/toggled";
import { Loaded } from "@/ui/Loaded";
import { ShowMore } from "@/ui/ShowMore";
import { TableSkeleton } from "@/ui/TableSkeleton";
import type { Samples } from "./bench";
import classes from "./bench.module.css";
import { filterText } from "./rescored";

type Chosen = Extract<Samples, { kind: "run" }>;

export function RunRollouts({ chosen, onChange }: { chosen: Chosen; onChange: (next: Chosen) => void }) {
  const runs = useQuery(runsQuery());
  const [step, setStep] = useState<number | undefined>(undefined);
  const all: Run[] = runs.data?.data ?? [];
  const choices = all.filter(samples).map(run => ({ value: run.id, label: `${run.name} · step ${run.step}` }));
  if (chosen.run !== null && runs.isSuccess && !choices.some(one => one.value === chosen.run)) {
    choices.unshift({ value: chosen.run, label: chosen.run });
  }
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Select
          flex={1}
          miw={200}
          aria-label="Run"
          placeholder="Choose a run"
          data={choices}
          value={chosen.run}
          onChange={run => onChange({ kind: "run", run, rollouts: [], matching: null })}
          searchable
          error={runs.isError ? errorText(runs.error) : undefined}
        />
        <NumberInput
          w={110}
          aria-label="Step of the rollouts"
          placeholder="Any step"
          min={0}
          value={step ?? ""}
          onChange={value => setStep(typeof value === "number" ? value : undefined)}
        />
        {chosen.rollouts.length > 0 && (
          <Button size="xs" variant="subtle" onClick={() => onChange({ ...chosen, rollouts: [] })}>
            None
          </Button>
        )}
      </Group>
      {chosen.run !== null && chosen.matching !== null && (
        <Paper p="sm" bg="var(--c-raised)" data-testid="bench-matching">
          <Text size="sm">
            All stored groups that match{filterText(chosen.matching) || ": no filter"}. Whole groups, the newest first,
            at most {MAX_MATCHED} samples.
          </Text>
          <Button size="compact-xs" variant="subtle" mt={4} onClick={() => onChange({ ...chosen, matching: null })}>
            Choose rollouts instead
          </Button>
        </Paper>
      )}
      {chosen.run !== null && chosen.matching === null && (
        <Preview key={chosen.run} run={chosen.run} step={step} chosen={chosen} onChange={onChange} />
      )}
    </Stack>
  );
}

interface PreviewProps {
  run: string;
  step: number | undefined;
  chosen: Chosen;
  onChange: (next: Chosen) => void;
}

function Preview({ run, step, chosen, onChange }: PreviewProps) {
  const rollouts = useInfiniteQuery(rolloutsQuery(run, { step }));
  return (
    <>
      <Loaded query={rollouts} skeleton={<TableSkeleton rows={5} />}>
        {({ pages }) => {
          const rows = pages.flatMap(page => page.data);
          return rows.length > 0 ? (
            <RolloutRows rows={rows} chosen={chosen} onChange={onChange} />
          ) : (
            <Text size="sm" c="dimmed" py="sm">
              This run has no stored rollouts{step === undefined ? " yet" : ` of step ${step}`}.
            </Text>
          );
        }}
      </Loaded>
      <ShowMore query={rollouts} />
    </>
  );
}

function RolloutRows({ rows, chosen, onChange }: { rows: Rollout[] } & Pick<PreviewProps, "chosen" | "onChange">) {
  const full = chosen.rollouts.length >= MAX_PICKED;
  return (
    <>
      <Paper className={classes.scroll} role="region" aria-label="Rollouts of the run" tabIndex={0}>
        <Table verticalSpacing={3} layout="fixed" data-testid="bench-rollouts">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={92}>Step</Table.Th>
              <Table.Th>Completion</Table.Th>
              <Table.Th w="34%">Original reward</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(row => (
              <Table.Tr key={row.id}>
                <Table.Td>
                  <Checkbox
                    size="xs"
                    label={row.step}
                    aria-label={`Rollout ${row.group_id}, sample ${row.sample + 1}`}
                    checked={chosen.rollouts.includes(row.id)}
                    disabled={full && !chosen.rollouts.includes(row.id)}
                    onChange={() => onChange({ ...chosen, rollouts: toggled(chosen.rollouts, row.id, MAX_PICKED) })}
                  />
                </Table.Td>
                <Table.Td className={classes.line} title={row.completion}>
                  {row.completion}
                </Table.Td>
                <Table.Td className={classes.line}>
                  <RewardCell row={row} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Paper>
      <Group justify="center">
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => onChange({ ...chosen, rollouts: rows.slice(0, MAX_PICKED).map(row => row.id) })}
        >
          Select the first {Math.min(MAX_PICKED, rows.length)}
        </Button>
      </Group>
    </>
  );
}
