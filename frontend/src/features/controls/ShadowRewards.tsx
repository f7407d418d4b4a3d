/** The training reward, and shadow versions that also score every rollout until one is promoted. */
import { ActionIcon, Badge, Button, Group, Paper, Select, Stack, Text, Tooltip } from "@mantine/core";
import { IconArrowUpCircle, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Target } from "@/api/model";
import { rewardsQuery } from "@/entities/rewards/queries";
import { metricsQuery } from "@/entities/runs/queries";
import { DASH, formatNumber, formatPercent } from "@/lib/format";
import type { KnobState } from "./Knob";
import { addable, refsOf, type ShadowFacts, shadowFacts, shadowKeys } from "./shadow";

interface Props {
  runId: string;
  definition: Target;
  shadow: Target;
  state: KnobState;
}

export function ShadowRewards({ runId, definition, shadow, state }: Props) {
  const rewards = useQuery(rewardsQuery);
  // What the person is at or what is staged: it trains only when the worker says so.
  const trained = state.value(definition.path);
  const shadows = refsOf(state.value(shadow.path));
  const known = refsOf(shadow.value);
  const metrics = useQuery(metricsQuery(runId, shadowKeys(known), { x: "step" }));
  const versions = (rewards.data?.data ?? []).flatMap(one => one.versions.map(version => version.ref));
  const offers = addable(versions, shadows, trained);
  const set = (next: string[]) => state.set(shadow.path, next);
  return (
    <Stack gap={6}>
      <Group justify="space-between" wrap="nowrap" gap={8}>
        <Text size="sm" fw={550}>
          Reward
        </Text>
        <Text size="xs" c="dimmed" className="mono" truncate>
          now {String(definition.value)}
        </Text>
      </Group>
      {shadows.map(ref => (
        <Paper key={ref} p={8} bg="var(--c-raised)" data-testid="shadow" data-ref={ref}>
          <Group justify="space-between" align="flex-start" wrap="nowrap" gap={4}>
            <Text size="xs" className="mono" style={{ overflowWrap: "anywhere" }}>
              {ref}
            </Text>
            <Tooltip label="Remove shadow reward">
              <ActionIcon
                size="sm"
                aria-label={`Remove ${ref} from the shadow rewards`}
                disabled={state.disabled}
                onClick={() => set(shadows.filter(one => one !== ref))}
              >
                <IconX size={13} />
              </ActionIcon>
            </Tooltip>
          </Group>
          <Facts facts={shadowFacts(ref, metrics.data)} />
          <Group justify="space-between" gap={6} mt={6}>
            <Badge color={ref === trained ? "grape" : "gray"}>
              {ref === definition.value ? "training" : ref === trained ? "to be promoted" : "shadow"}
            </Badge>
            <Button
              size="compact-xs"
              variant="light"
              leftSection={<IconArrowUpCircle size={13} />}
              disabled={state.disabled || ref === trained}
              onClick={() => state.set(definition.path, ref)}
              data-testid="promote"
            >
              Promote
            </Button>
          </Group>
        </Paper>
      ))}
      <Select
        size="xs"
        aria-label="Add a shadow reward"
        placeholder={shadows.length === 0 ? "Add a shadow reward" : "Add another"}
        data={offers}
        value={null}
        onChange={ref => ref && set([...shadows, ref])}
        disabled={state.disabled || offers.length === 0}
        searchable
        nothingFoundMessage="No such version"
      />
    </Stack>
  );
}

function Facts({ facts }: { facts: ShadowFacts }) {
  return (
    <Text size="xs" c="dimmed" className="num" mt={2}>
      {facts.step === null ? (
        "No step scored yet"
      ) : (
        <>
          mean {formatNumber(facts.mean, 3)} · agrees {formatPercent(facts.agreement)} · r{" "}
          {facts.correlation === null ? DASH : formatNumber(facts.correlation, 2)}
          {facts.errors !== null && facts.errors > 0 && (
            <Text span inherit c="var(--c-bad)">
              {" "}
              · {formatNumber(facts.errors)} failed
            </Text>
          )}
        </>
      )}
    </Text>
  );
}
