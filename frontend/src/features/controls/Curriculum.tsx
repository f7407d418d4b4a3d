/** The mixture of sources, and the band of difficulty within them. */
import { Group, RangeSlider, Slider, Stack, Text } from "@mantine/core";
import type { Target } from "@/api/model";
import { NumberField } from "@/features/schema-form/NumberField";
import { formatPercent } from "@/lib/format";
import type { KnobState } from "./Knob";
import { weightSource } from "./labels";
import { shares } from "./model";

export function SourceWeights({ targets, state }: { targets: Target[]; state: KnobState }) {
  const weights = targets.map(target => Number(state.value(target.path)) || 0);
  const share = shares(weights);
  const top = Math.max(2, ...targets.map(target => Number(target.value) || 0));
  return (
    <Stack gap={8}>
      <Text size="sm" fw={550}>
        Source weights
      </Text>
      {targets.map((target, index) => {
        const name = weightSource(target.path) ?? target.path;
        return (
          <div key={target.path}>
            <Group justify="space-between" gap={8} wrap="nowrap">
              <Text size="xs" className="mono" truncate>
                {name}
              </Text>
              <Text size="xs" c="dimmed" className="num">
                {formatPercent(share[index])}
              </Text>
            </Group>
            <Group gap={10} wrap="nowrap">
              <Slider
                flex={1}
                size="sm"
                min={0}
                max={top}
                step={0.05}
                value={Math.min(top, weights[index] ?? 0)}
                label={null}
                disabled={state.disabled}
                onChange={next => state.set(target.path, Number(next.toFixed(2)))}
                thumbLabel={`Weight of ${name}`}
                data-testid={`weight-${name}`}
              />
              <div style={{ width: 72 }}>
                <NumberField
                  value={state.value(target.path)}
                  ariaLabel={`Weight of ${name}`}
                  disabled={state.disabled}
                  onChange={next => state.set(target.path, next)}
                />
              </div>
            </Group>
          </div>
        );
      })}
      {weights.every(weight => weight <= 0) && (
        <Text size="xs" c="var(--c-bad)" role="alert">
          At least one source needs a weight above zero.
        </Text>
      )}
    </Stack>
  );
}

export function DifficultyBand({ low, high, state }: { low: Target; high: Target; state: KnobState }) {
  const from = Number(state.value(low.path));
  const to = Number(state.value(high.path));
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={550}>
          Difficulty band
        </Text>
        <Text size="xs" c="dimmed" className="num">
          pass rate {formatPercent(from)} to {formatPercent(to)}
        </Text>
      </Group>
      <RangeSlider
        size="sm"
        min={0}
        max={1}
        step={0.01}
        minRange={0.01}
        value={[from, to]}
        label={null}
        disabled={state.disabled}
        onChange={([nextLow, nextHigh]) => {
          if (nextLow !== from) state.set(low.path, Number(nextLow.toFixed(2)));
          if (nextHigh !== to) state.set(high.path, Number(nextHigh.toFixed(2)));
        }}
        thumbFromLabel="Lowest pass rate"
        thumbToLabel="Highest pass rate"
        data-testid="difficulty-band"
      />
      <Group justify="space-between" mt={2}>
        <Text size="xs" c="dimmed">
          hard
        </Text>
        <Text size="xs" c="dimmed">
          easy
        </Text>
      </Group>
    </div>
  );
}
