/** Bounds and action of one guard. */
import { Group, NumberInput, Select, TextInput } from "@mantine/core";
import type { Guard } from "./replay";

const ACTIONS = [
  { value: "alert", label: "Alert" },
  { value: "pause", label: "Pause" },
  { value: "roll_back", label: "Roll back" },
];

interface Props {
  guard: Guard;
  names: string[];
  disabled: boolean;
  onChange: (guard: Guard) => void;
}

export function GuardForm({ guard, names, disabled, onChange }: Props) {
  const number = (label: string, member: "min" | "max" | "for_steps") => (
    <NumberInput
      label={label}
      size="xs"
      w={90}
      hideControls
      disabled={disabled}
      value={guard[member] ?? ""}
      onChange={value => onChange({ ...guard, [member]: typeof value === "number" ? value : null })}
    />
  );
  return (
    <Group gap="xs" align="end">
      <TextInput
        label="Name"
        size="xs"
        w={188}
        disabled={disabled}
        value={guard.name}
        onChange={event => onChange({ ...guard, name: event.currentTarget.value })}
      />
      {names.length > 0 && (
        <Select
          label="Metric"
          size="xs"
          w={188}
          searchable
          disabled={disabled}
          data={[...new Set([guard.metric, ...names])]}
          value={guard.metric}
          allowDeselect={false}
          onChange={metric => metric !== null && onChange({ ...guard, metric })}
        />
      )}
      {guard.type === "metric_bound" && number("Lowest", "min")}
      {guard.type === "metric_bound" && number("Highest", "max")}
      {number(guard.type === "held_out_falls" ? "Evaluations" : "Steps", "for_steps")}
      <Select
        label="Action"
        size="xs"
        w={130}
        disabled={disabled}
        data={guard.change ? [...ACTIONS, { value: "change", label: "Change a field" }] : ACTIONS}
        value={guard.action}
        allowDeselect={false}
        onChange={action => action !== null && onChange(acting(guard, action))}
      />
    </Group>
  );
}

/** A guard that neither changes a field nor rolls back has no change to make. */
function acting(guard: Guard, action: string): Guard {
  return { ...guard, action, change: action === "alert" || action === "pause" ? null : (guard.change ?? null) };
}
