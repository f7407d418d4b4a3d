/** Every steerable field that has no control of its own above. */
import { Group, Input, Text, Tooltip } from "@mantine/core";
import type { Control, Run, Target } from "@/api/model";
import { NumberField } from "@/features/schema-form/NumberField";
import { clean } from "@/features/schema-form/FieldLabel";
import { formatValue } from "@/lib/format";
import { Knob } from "./Knob";
import { BOUNDARIES, targetLabel } from "./labels";

interface Props {
  run: Run;
  targets: Target[];
  controls: Control[];
  enabled: boolean;
}

export function AllFields({ run, targets, controls, enabled }: Props) {
  return targets.map(target => (
    <Knob
      key={target.path}
      run={run}
      targets={[target]}
      controls={controls}
      enabled={enabled}
      testId={`knob-${target.path}`}
    >
      {state => (
        <div>
          <Group justify="space-between" gap={8} wrap="nowrap" mb={2}>
            <Tooltip
              label={`${clean(String(target.schema.description ?? ""))} ${BOUNDARIES[target.boundary] ?? ""}.`}
              position="left"
            >
              <Input.Label size="xs" component="span" tabIndex={0}>
                {targetLabel(target.path)}
              </Input.Label>
            </Tooltip>
            <Text size="xs" c="dimmed" className="num">
              now {formatValue(target.value)}
            </Text>
          </Group>
          <NumberField
            value={state.value(target.path)}
            unit={typeof target.schema.unit === "string" ? target.schema.unit : undefined}
            ariaLabel={targetLabel(target.path)}
            disabled={state.disabled}
            onChange={next => state.set(target.path, next)}
          />
        </div>
      )}
    </Knob>
  ));
}
