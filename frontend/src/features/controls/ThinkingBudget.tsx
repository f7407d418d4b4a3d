/** The thinking budget over the thinking lengths of the last rollouts: shows what it would cut before it is sent. */
import { Badge, Group, Slider, Switch, Text, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import * as api from "@/api/client";
import { metricsQuery } from "@/entities/runs/queries";
import { NumberField } from "@/features/schema-form/NumberField";
import { formatPercent } from "@/lib/format";
import type { KnobState } from "./Knob";
import { LengthHistogram } from "./LengthHistogram";
import { rewardCut, shareCut } from "./model";

const VIOLATIONS = "thinking/budget_violations";

interface Props {
  runId: string;
  path: string;
  state: KnobState;
  /** Longest completion of the run. A longer budget has no effect. */
  longest: number;
}

export function ThinkingBudget({ runId, path, state, longest }: Props) {
  const recent = useQuery({
    queryKey: ["run", runId, "rollouts", "recent"],
    queryFn: ({ signal }) => api.listRollouts(runId, { limit: 200 }, { signal }),
  });
  const violations = useQuery(metricsQuery(runId, [VIOLATIONS], { x: "step" })).data?.series[VIOLATIONS];
  const broken = violations?.max.at(-1) ?? 0;
  const rows = recent.data?.data ?? [];
  const lengths = rows.map(row => row.thinking_tokens);
  const hit = rows.filter(row => row.budget_hit).length;
  const value = state.value(path);
  const budget = typeof value === "number" ? value : null;
  const cut = shareCut(rows, budget);
  const reward = rewardCut(rows, budget);
  const top = Math.max(1, longest - 1);
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" mb={4}>
        <Text size="sm" fw={550}>
          Thinking budget
          {broken > 0 && <NotEnforced count={broken} />}
        </Text>
        <Switch
          size="xs"
          label="limited"
          checked={budget !== null}
          disabled={state.disabled}
          onChange={event => state.set(path, event.currentTarget.checked ? defaultBudget(lengths, top) : null)}
        />
      </Group>
      <LengthHistogram lengths={lengths} budget={budget} top={top} />
      <Group gap={10} wrap="nowrap" mt={2}>
        <Slider
          flex={1}
          size="sm"
          min={0}
          max={top}
          value={budget ?? top}
          label={null}
          disabled={state.disabled || budget === null}
          onChange={next => state.set(path, next)}
          thumbLabel="Thinking budget in tokens"
          data-testid="thinking-budget-slider"
        />
        <div style={{ width: 104 }}>
          <NumberField
            value={budget}
            unit={budget === null ? undefined : "tokens"}
            disabled={state.disabled}
            placeholder="no limit"
            ariaLabel="Thinking budget"
            onChange={next => state.set(path, next)}
          />
        </div>
      </Group>
      <Text size="xs" c="dimmed" mt={4} className="num" role="status" mih={18}>
        {cut === null
          ? "No rollouts to preview yet."
          : budget === null
            ? `No limit. Longest of the last ${lengths.length}: ${Math.max(...lengths)} tokens.`
            : `Would cut ${cut.unknown > 0 ? "at least " : ""}${formatPercent(cut.certain)} of the last ${lengths.length} rollouts.`}
        {cut !== null &&
          cut.certain > 0 &&
          reward !== null &&
          ` They earned ${formatPercent(reward)} of the reward; their answers with less thinking are unknown.`}
        {cut !== null && budget !== null && cut.unknown > 0
          ? ` ${formatPercent(cut.unknown)} more hit a shorter budget; how long they would have thought is unknown.`
          : hit > 0 && ` ${hit} of them hit their budget, so their lengths are lower bounds.`}
      </Text>
    </div>
  );
}

function NotEnforced({ count }: { count: number }) {
  const why = `${count} completions of the last step exceeded their thinking budget.`;
  return (
    <Tooltip label={why} events={{ hover: true, focus: true, touch: true }}>
      <Badge size="xs" color="red" ml={6} tabIndex={0} aria-label={`not enforced: ${why}`}>
        not enforced
      </Badge>
    </Tooltip>
  );
}

/** Initial value: the median thinking length. */
function defaultBudget(lengths: number[], top: number): number {
  const sorted = [...lengths].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  return Math.min(top, Math.max(1, median ?? Math.floor(top / 2)));
}
