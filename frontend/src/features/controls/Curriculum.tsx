/** The mixture of sources, and the band of difficulty within them. */
import { Group, RangeSlider, Slider, Stack, Text } from "@mantine/core";
import type { Target } from "@/api/model";
import { NumberField } from "@/features/schema-form/NumberField";
import { formatPercent } from "@/lib/format";
import type { Band } from "./band";
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

interface BandSliderProps {
  band: Band;
  disabled: boolean;
  onChange: (band: Band) => void;
}

export function BandSlider({ band, disabled, onChange }: BandSliderProps) {
  return (
    <>
      <RangeSlider
        size="sm"
        min={0}
        max={1}
        step={0.01}
        minRange={0.01}
        value={[band.low, band.high]}
        label={null}
        disabled={disabled}
        onChange={([low, high]) => onChange({ low: Number(low.toFixed(2)), high: Number(high.toFixed(2)) })}
        thumbFromLabel="Minimum pass rate"
        thumbToLabel="Maximum pass rate"
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
    </>
  );
}
