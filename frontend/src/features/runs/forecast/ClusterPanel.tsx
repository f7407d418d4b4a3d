/** Estimates for clusters of several sizes, whether or not they exist. */
import { Button, Group, Loader, NativeSelect, NumberInput, Paper, Table, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { errorText } from "@/api/http";
import type { ClusterEstimate, ClusterPlan, GpuEnum, Spec } from "@/api/model";
import { formatCount, formatPercent } from "@/lib/format";
import { clusterPlanQuery, GPU_KINDS, stepTime } from "./plan";

export function ClusterPanel({ spec, valid }: { spec: Spec; valid: boolean }) {
  const [open, setOpen] = useState(false);
  const [gpu, setGpu] = useState<GpuEnum>("H100");
  const [price, setPrice] = useState<number | string>("");
  const [settled] = useDebouncedValue({ spec, price: typeof price === "number" ? price : null }, 350);
  const found = useQuery(clusterPlanQuery(settled.spec, gpu, settled.price, open && valid));
  return (
    <Paper p="sm" component="section" aria-label="On a cluster" data-testid="cluster-plan">
      <Title order={3} mb={6} style={{ display: "flex", alignItems: "center", gap: 8 }}>
        On a cluster {found.isFetching && <Loader size={12} role="status" aria-label="Planning" />}
      </Title>
      {!open ? (
        <Button variant="default" size="xs" disabled={!valid} onClick={() => setOpen(true)}>
          Estimate on larger clusters
        </Button>
      ) : (
        <>
          <Group grow gap="xs" align="end">
            <NativeSelect
              label="GPU type"
              size="xs"
              data={GPU_KINDS}
              value={gpu}
              onChange={event => setGpu(event.currentTarget.value as GpuEnum)}
            />
            <NumberInput label="Price per GPU hour" size="xs" min={0} value={price} onChange={setPrice} />
          </Group>
          {found.data && !found.error ? (
            <Estimates plan={found.data} />
          ) : (
            <Text size="xs" c="dimmed" role="status" mt="xs">
              {found.error ? errorText(found.error) : valid ? "Planning" : "Available once the spec has no errors."}
            </Text>
          )}
        </>
      )}
    </Paper>
  );
}

function Estimates({ plan }: { plan: ClusterPlan }) {
  const priced = plan.estimates.some(one => one.cost !== null);
  return (
    <>
      <Table mt="xs" fz="xs" verticalSpacing={3} horizontalSpacing={4} aria-label={`1,000 steps on ${plan.gpu}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">GPUs</Table.Th>
            <Table.Th ta="right" title="GPUs of rollout engines + learner">
              Split
            </Table.Th>
            <Table.Th ta="right">Step</Table.Th>
            <Table.Th ta="right" title="Share of GPU time spent waiting">
              Wait
            </Table.Th>
            <Table.Th ta="right" title={priced ? "Of 1,000 steps" : "GPU hours of 1,000 steps"}>
              {priced ? "Cost" : "GPU hours"}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {plan.estimates.map(one => (
            <Estimate key={one.gpus} one={one} />
          ))}
        </Table.Tbody>
      </Table>
      <Text size="xs" c="dimmed" mt={6}>
        From vendor figures, for 1,000 steps with checkpoints and failures; completions of{" "}
        {formatCount(plan.mean_tokens)} tokens, from {plan.tokens_source}.
      </Text>
    </>
  );
}

function Estimate({ one }: { one: ClusterEstimate }) {
  if (one.refusal !== null || one.step_seconds === null || one.shares === null || one.gpu_hours === null) {
    return (
      <Table.Tr>
        <Table.Td ta="right" className="num">
          {one.gpus.toLocaleString("en-GB")}
        </Table.Td>
        <Table.Td colSpan={4} c="dimmed">
          Does not fit: {one.refusal}
        </Table.Td>
      </Table.Tr>
    );
  }
  const { generating, learning, loading, saving, failures } = one.shares;
  const spent = `Generating ${formatPercent(generating)}, learning ${formatPercent(learning)}, loading weights ${formatPercent(loading)}, checkpoints ${formatPercent(saving)}, failures ${formatPercent(failures)}`;
  const last = one.cost ?? one.gpu_hours;
  return (
    <Table.Tr title={spent}>
      <Table.Td ta="right" className="num">
        {one.gpus.toLocaleString("en-GB")}
      </Table.Td>
      <Table.Td ta="right" className="num" style={{ whiteSpace: "nowrap" }}>
        {one.rollout_gpus} + {one.learner_gpus}
      </Table.Td>
      <Table.Td ta="right" className="num">
        {stepTime(one.step_seconds)}
      </Table.Td>
      <Table.Td ta="right" className="num">
        {formatPercent(one.shares.waiting)}
      </Table.Td>
      <Table.Td ta="right" className="num">
        {last.toLocaleString("en-GB", { maximumSignificantDigits: 3 })}
      </Table.Td>
    </Table.Tr>
  );
}
