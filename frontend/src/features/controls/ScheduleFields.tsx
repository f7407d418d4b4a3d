/** When a drafted change takes effect: immediately, at a step, or as a ramp over several steps. */
import { Group, NativeSelect, TextInput } from "@mantine/core";
import type { Schedule } from "./schedule";

interface Props {
  schedule: Schedule;
  /** Whether the change has intermediate values, so that a ramp is possible. */
  canRamp: boolean;
  /** The first step that is still to come. */
  next: number;
  disabled: boolean;
  onChange: (schedule: Schedule) => void;
}

export function ScheduleFields({ schedule, canRamp, next, disabled, onChange }: Props) {
  const kinds = [
    { value: "now", label: "Immediately" },
    { value: "at", label: "At step" },
    ...(canRamp || schedule.kind === "ramp" ? [{ value: "ramp", label: "Ramp" }] : []),
  ];
  const step = (
    <TextInput
      size="xs"
      flex={1}
      inputMode="numeric"
      aria-label={schedule.kind === "at" ? "Step at which it takes effect" : "First step of the ramp"}
      placeholder={schedule.kind === "at" ? String(next) : "next"}
      value={schedule.at}
      disabled={disabled}
      onChange={event => onChange({ ...schedule, at: event.currentTarget.value })}
    />
  );
  return (
    <Group gap={6} wrap="nowrap">
      <NativeSelect
        size="xs"
        w={86}
        aria-label="When it takes effect"
        data={kinds}
        value={schedule.kind}
        disabled={disabled}
        onChange={event => onChange({ ...schedule, kind: event.currentTarget.value as Schedule["kind"] })}
      />
      {schedule.kind === "at" && step}
      {schedule.kind === "ramp" && (
        <>
          <span className="sr-only">from step</span>
          {step}
          <TextInput
            size="xs"
            flex={1}
            inputMode="numeric"
            aria-label="Steps of the ramp"
            placeholder="over … steps"
            value={schedule.steps}
            disabled={disabled}
            onChange={event => onChange({ ...schedule, steps: event.currentTarget.value })}
          />
        </>
      )}
    </Group>
  );
}
