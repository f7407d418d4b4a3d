/** The flags on top of the control lines: who changed what, when, and why. */
import { HoverCard, Text, UnstyledButton } from "@mantine/core";
import type { Control } from "@/api/model";
import { ControlChange } from "@/features/controls/ControlChange";
import { formatTime } from "@/lib/format";
import classes from "./charts.module.css";

export interface ControlMark {
  id: string;
  x: number;
  control: Control;
}

export function ControlMarks({ marks, positions }: { marks: ControlMark[]; positions: Map<string, number> }) {
  return marks.map(({ id, control }) => {
    const left = positions.get(id);
    if (left === undefined) return null;
    return (
      <HoverCard key={id} width={280} shadow="md" openDelay={80} position="top" withArrow>
        <HoverCard.Target>
          <UnstyledButton
            className={classes.mark}
            style={{ left }}
            data-testid="control-line"
            data-step={control.applied_step ?? undefined}
            data-target={control.target}
            aria-label={`Control ${control.target}, applied at step ${control.applied_step}`}
          />
        </HoverCard.Target>
        <HoverCard.Dropdown>
          <ControlChange control={control} />
          {control.reason && (
            <Text size="xs" mt={4}>
              “{control.reason}”
            </Text>
          )}
          <Text size="xs" c="dimmed" mt={4}>
            {control.actor} · {formatTime(control.created_at)} · revision {control.revision}
          </Text>
          <Text size="xs" c="dimmed" className="num">
            applied at step {control.applied_step}
            {control.settled_step === null ? " · settling" : ` · settled at step ${control.settled_step}`}
          </Text>
        </HoverCard.Dropdown>
      </HoverCard>
    );
  });
}
