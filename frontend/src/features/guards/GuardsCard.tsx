/** The guards of a run: what they watch, what they found, and changes to them, which are controls like any other. */
import { Button, Group, Paper, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Json, Run } from "@/api/model";
import { GUARDS } from "@/features/controls/labels";
import { stagedFor } from "@/features/controls/model";
import { NOW, whenOf } from "@/features/controls/schedule";
import { useSteer } from "@/features/controls/useSteer";
import { FIGURES } from "@/entities/runs/figures";
import { isOfExamples, runObjective, samples } from "@/entities/runs/objective";
import { controlsQuery, metricNamesQuery, specSchemaQuery } from "@/entities/runs/queries";
import { isLive } from "@/entities/runs/states";
import { getIn, same } from "@/features/schema-form/pointer";
import { useCan } from "@/features/session/session";
import { toastError } from "@/ui/toast";
import { GuardRow } from "./GuardRow";
import { type Guard, guardsOf, keyOf, toJson } from "./replay";

const NEW: Guard = {
  type: "metric_bound",
  name: "",
  metric: "critic/score/mean",
  action: "alert",
  min: 0,
  for_steps: 3,
};

export function GuardsCard({ run }: { run: Run }) {
  const controls = useQuery(controlsQuery(run.id));
  const names = useQuery(metricNamesQuery(run.id));
  const schema = useQuery(specSchemaQuery);
  const [draft, setDraft] = useState<Guard[] | null>(null);
  const steer = useSteer(run.id);
  const may = useCan("operator") && isLive(run.state);
  const staged = stagedFor(controls.data?.data ?? [], GUARDS);
  const now = guardsOf(staged ? staged.value : getIn(run.effective_spec ?? run.spec, [GUARDS]));
  const shown = draft ?? now;
  const all = guardsOf(getIn(schema.data as Json | undefined, ["properties", GUARDS, "default"]));
  const usual = samples(run) ? all : all.filter(guard => isOfExamples(guard.metric));
  const presets: Record<string, Guard[]> = {
    off: [],
    watch: usual,
    strict: usual.map(guard => ({ ...guard, action: "pause" })),
  };
  const preset = Object.keys(presets).find(
    name => usual.length > 0 && same(toJson(presets[name] ?? []), toJson(shown)),
  );
  const changed = draft !== null && !same(toJson(draft), toJson(now));
  const send = () =>
    steer.mutate(
      { changes: [{ target: GUARDS, value: toJson(shown) }], reason: "", revision: run.revision, when: whenOf(NOW) },
      {
        onSuccess: () => setDraft(null),
        onError: error => toastError("The guards were not changed", error),
      },
    );
  return (
    <Paper p="sm" component="section" aria-label="Guards" data-testid="guards-card">
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Title order={2} size="h5">
          Guards
        </Title>
        {may && usual.length > 0 && (
          <SegmentedControl
            size="xs"
            aria-label="Preset of guards"
            data={[
              { value: "off", label: "Off" },
              { value: "watch", label: "Watch" },
              { value: "strict", label: "Strict" },
            ]}
            value={preset ?? ""}
            onChange={name => setDraft(presets[name] ?? null)}
          />
        )}
      </Group>
      {staged && (
        <Text size="xs" c="dimmed" mb={4}>
          A change is staged, waiting for the worker.
        </Text>
      )}
      {shown.length === 0 && (
        <Text size="sm" c="dimmed">
          No guards: nothing reports a collapsing run.
        </Text>
      )}
      <Stack gap={6}>
        {shown.map((guard, index) => (
          <GuardRow
            // The place names it: names are edited here.
            key={index}
            run={run}
            guard={guard}
            finding={run.health.findings.find(one => one.guard === keyOf(guard))}
            names={names.data ?? []}
            disabled={!may}
            onChange={next => setDraft(shown.map((one, at) => (at === index ? next : one)))}
            onRemove={() => setDraft(shown.filter((_, at) => at !== index))}
          />
        ))}
      </Stack>
      {may && (
        <Group mt="xs" gap="xs">
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconPlus size={12} />}
            onClick={() => setDraft([...shown, { ...NEW, metric: FIGURES[runObjective(run)].metric }])}
          >
            Add a guard
          </Button>
          {changed && (
            <>
              <Button size="compact-xs" loading={steer.isPending} onClick={send} data-testid="apply-guards">
                Apply
              </Button>
              <Button size="compact-xs" variant="subtle" onClick={() => setDraft(null)}>
                Discard
              </Button>
            </>
          )}
        </Group>
      )}
    </Paper>
  );
}
