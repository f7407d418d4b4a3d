import { Button, Group, Text } from "@mantine/core";
import type { Target } from "@/api/model";
import { NumberField, numberText } from "@/features/schema-form/NumberField";
import type { KnobState } from "./Knob";

/** A step size is changed by factors. */
export function LearningRate({ target, state }: { target: Target; state: KnobState }) {
  const value = state.value(target.path);
  const scale = (factor: number) => {
    if (typeof value === "number") state.set(target.path, Number((value * factor).toPrecision(6)));
  };
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={550}>
          Learning rate
        </Text>
        <Text size="xs" c="dimmed" className="num">
          now {numberText(target.value)}
        </Text>
      </Group>
      <Group gap={6} wrap="nowrap">
        <div style={{ flex: 1 }}>
          <NumberField
            value={value}
            ariaLabel="Learning rate"
            disabled={state.disabled}
            onChange={next => state.set(target.path, next)}
          />
        </div>
        <Button size="xs" variant="default" disabled={state.disabled} onClick={() => scale(0.5)} aria-label="÷2: halve">
          ÷2
        </Button>
        <Button size="xs" variant="default" disabled={state.disabled} onClick={() => scale(2)} aria-label="×2: double">
          ×2
        </Button>
      </Group>
    </div>
  );
}
