/** The target pass rate, over the pass rates of the run's prompts. */
import { Group, Slider, Text } from "@mantine/core";
import type { Curriculum, Target } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { BandHistogram } from "./BandHistogram";
import type { KnobState } from "./Knob";

interface Props {
  target: Target;
  curriculum: Curriculum | undefined;
  state: KnobState;
}

export function DifficultyTarget({ target, curriculum, state }: Props) {
  const value = Number(state.value(target.path));
  const rates = curriculum?.pass_rates;
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={550}>
          Target pass rate
        </Text>
        <Text size="xs" c="dimmed" className="num">
          {formatPercent(value)}
        </Text>
      </Group>
      {rates && (
        <BandHistogram
          sources={rates.sources}
          batch={undefined}
          band={null}
          target={value}
          disabled
          onChange={() => {}}
        />
      )}
      <Slider
        size="sm"
        min={0}
        max={1}
        step={0.01}
        value={value}
        label={null}
        disabled={state.disabled}
        onChange={next => state.set(target.path, Number(next.toFixed(2)))}
        thumbLabel="Target pass rate"
        data-testid="target-pass-rate"
      />
      <Text size="xs" c="dimmed" mt={4} mih={18} role="status">
        {rates ? "Prompts closer to the line are drawn more often." : curriculum?.why}
      </Text>
    </div>
  );
}
