import { Loader, NumberInput, Paper, Table, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { errorText } from "@/api/http";
import type { Plan, Spec } from "@/api/model";
import { objectiveOf } from "@/entities/runs/objective";
import { formatDuration, formatPercent } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { fastest, ownGpus, planQuery, stepTime } from "./plan";

const NAMES = { sync: "sync", streamed: "streamed", async: "async", in_flight: "in flight" };

/** Predicted time and cost of the run, and the best split of its GPUs. */
export function PlanPanel({ spec, valid }: { spec: Spec; valid: boolean }) {
  /** The input; a text or 1 until it is a number that can be split. */
  const [typed, setTyped] = useState<number | string | null>(null);
  const sampled = objectiveOf(spec) === "rl";
  const gpus = typeof typed === "number" && typed >= 2 ? typed : ownGpus(spec);
  const [settled] = useDebouncedValue({ spec, gpus }, 350);
  const found = useQuery(planQuery(settled.spec, settled.gpus, valid));
  return (
    <Paper p="sm" component="section" aria-label="Time and cost" data-testid="plan">
      <Title order={3} mb={6} style={{ display: "flex", alignItems: "center", gap: 8 }}>
        Time and cost {found.isFetching && <Loader size={12} role="status" aria-label="Planning" />}
      </Title>
      {found.data && !found.error ? (
        <Prediction plan={found.data} sampled={sampled} />
      ) : (
        <Text size="xs" c="dimmed" role="status">
          {found.error ? errorText(found.error) : valid ? "Planning" : "Available once the spec has no errors."}
        </Text>
      )}
      {sampled && (found.data || typed !== null) && (
        <NumberInput
          label="GPUs to split"
          size="xs"
          mt="sm"
          min={2}
          max={65_536}
          allowDecimal={false}
          clampBehavior="blur"
          value={typed ?? gpus}
          onChange={setTyped}
        />
      )}
      {sampled && found.data && !found.error && <Splits plan={found.data} />}
    </Paper>
  );
}

/** @param sampled whether the run has engines, which may wait for the learner as it may for them */
function Prediction({ plan, sampled }: { plan: Plan; sampled: boolean }) {
  const { current } = plan;
  const idle: [string, string][] = [
    ["Engines idle", formatPercent(current.engine_idle_share)],
    ["Learner idle", formatPercent(current.learner_idle_share)],
  ];
  return (
    <>
      <Facts
        facts={[
          ["Step", stepTime(current.step_seconds)],
          ["The whole run", formatDuration(current.total_seconds)],
          ...(sampled ? idle : []),
          ["GPU time", `${current.gpu_hours.toLocaleString("en-GB", { maximumSignificantDigits: 3 })} h`],
        ]}
      />
      <Text size="xs" c="dimmed" mt={6}>
        From {plan.source}, without evaluations and checkpoints.
      </Text>
    </>
  );
}

function Splits({ plan }: { plan: Plan }) {
  const best = fastest(plan.modes);
  return (
    <Table mt="xs" fz="xs" verticalSpacing={3} horizontalSpacing={4} aria-label={`Best split of ${plan.gpus} GPUs`}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Mode</Table.Th>
          <Table.Th ta="right" title="GPUs of rollout engines + learner">
            Split
          </Table.Th>
          <Table.Th ta="right">Step</Table.Th>
          <Table.Th ta="right" title="Idle share of engines / of the learner">
            Idle
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {plan.modes.map(mode => (
          <Table.Tr key={mode.mode} fw={mode === best ? 600 : undefined} data-best={mode === best || undefined}>
            <Table.Td>{NAMES[mode.mode]}</Table.Td>
            <Table.Td ta="right" className="num">
              {mode.rollout_gpus} + {mode.learner_gpus}
            </Table.Td>
            <Table.Td ta="right" className="num">
              {stepTime(mode.step_seconds)}
            </Table.Td>
            <Table.Td ta="right" className="num" style={{ whiteSpace: "nowrap" }}>
              {formatPercent(mode.engine_idle_share)} / {formatPercent(mode.learner_idle_share)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
