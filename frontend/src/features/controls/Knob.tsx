/** A steerable field of the rail: draft → reason → send → progress. */
import { ActionIcon, Button, Group, Loader, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import type { FormEvent, ReactNode } from "react";
import type { Control, Json, JsonSchema, Run, Target } from "@/api/model";
import { useConnectionLost } from "@/lib/connection";
import { ErrorState } from "@/ui/ErrorState";
import { toastError } from "@/ui/toast";
import { ControlChange } from "./ControlChange";
import { conflictRows } from "./conflict";
import { ConflictPanel } from "./ConflictPanel";
import { BOUNDARIES, targetLabel } from "./labels";
import { faultOf, lastFor, progressText } from "./model";
import { canRamp, scheduleFault } from "./schedule";
import { ScheduleFields } from "./ScheduleFields";
import { useDraft } from "./useDraft";
import { useControlAct } from "./useSteer";

export interface KnobState {
  /** The draft, else the staged value, else the value in force. */
  value: (path: string) => Json;
  set: (path: string, value: Json) => void;
  disabled: boolean;
}

interface Props {
  run: Run;
  targets: Target[];
  controls: Control[];
  enabled: boolean;
  testId: string;
  children: (state: KnobState) => ReactNode;
}

export function Knob({ run, targets, controls, enabled, testId, children }: Props) {
  const draft = useDraft(run, testId, targets, controls);
  const { pending, others } = draft;
  const faults = pending.flatMap(({ target, value }) => {
    const fault = faultOf(value, (targets.find(one => one.path === target)?.schema ?? {}) as JsonSchema);
    return fault === null ? [] : [targets.length === 1 ? fault : `${targetLabel(target)}: ${fault}`];
  });
  const moves = pending.map(({ target, value }) => ({
    before: targets.find(one => one.path === target)?.value as Json,
    value,
  }));
  const late = scheduleFault(draft.schedule, moves, run.step, run.total_steps);
  if (late !== null) faults.push(late);
  const faulty = faults.length > 0;
  const lost = useConnectionLost();
  const stale = others.length > 0;
  const boundary = targets.find(target => target.path === pending[0]?.target)?.boundary;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (pending.length > 0 && !faulty && !stale && !lost) draft.apply();
  };
  return (
    // A form around the fields, so that a typed value applies on Enter.
    <form data-testid={testId} data-targets={targets.map(target => target.path).join(" ")} onSubmit={submit}>
      {children({ value: draft.value, set: draft.set, disabled: !enabled || draft.sending })}
      {pending.length > 0 && (
        <Stack gap={6} mt={8}>
          {faults.map(fault => (
            <Text key={fault} size="xs" c="var(--c-bad)" role="alert">
              {fault}
            </Text>
          ))}
          <TextInput
            size="xs"
            placeholder="Reason (saved in the history)"
            aria-label="Reason for the change"
            value={draft.reason}
            maxLength={2000}
            onChange={event => draft.setReason(event.currentTarget.value)}
          />
          <ScheduleFields
            schedule={draft.schedule}
            canRamp={canRamp(moves)}
            next={run.step + 1}
            disabled={draft.sending}
            onChange={draft.setSchedule}
          />
          {draft.isKept && (
            <Text size="xs" c="dimmed" role="status">
              Draft restored.
            </Text>
          )}
          {!stale && (
            <Group gap={6} wrap="nowrap">
              <Tooltip label={boundary ? BOUNDARIES[boundary] : ""} disabled={!boundary}>
                <Button type="submit" size="xs" loading={draft.sending} disabled={faulty || lost} flex={1}>
                  {lost ? "Offline: not sent" : pending.length === 1 ? "Apply" : `Apply ${pending.length} changes`}
                </Button>
              </Tooltip>
              <Button size="xs" variant="default" onClick={draft.reset}>
                Discard
              </Button>
            </Group>
          )}
        </Stack>
      )}
      {stale && (
        <ConflictPanel
          rows={conflictRows(pending, others)}
          faulty={faulty}
          onTheirs={draft.takeTheirs}
          onMine={draft.applyOver}
          onDiscard={draft.reset}
        />
      )}
      {draft.error && (
        <div style={{ marginTop: 8 }}>
          <ErrorState error={draft.error} />
        </div>
      )}
      {targets.map(target => {
        const last = lastFor(controls, target.path, run.step);
        return last ? <Progress key={target.path} run={run} control={last} enabled={enabled} /> : null;
      })}
    </form>
  );
}

/** staged → applied → settled, in the worker's words. */
function Progress({ run, control, enabled }: { run: Run; control: Control; enabled: boolean }) {
  const act = useControlAct(run.id);
  const color =
    control.state === "rejected" ? "var(--c-bad)" : control.state === "settled" ? "dimmed" : "var(--c-control)";
  return (
    <Group
      gap={6}
      mt={6}
      wrap="nowrap"
      align="flex-start"
      data-testid="control-progress"
      data-state={control.state}
      data-target={control.target}
    >
      {control.state === "staged" && <Loader size={12} color="var(--c-control)" mt={3} aria-hidden="true" />}
      <Text size="xs" c={color} flex={1} role="status">
        <ControlChange control={control} /> {progressText(control, run.step)}
      </Text>
      {control.state === "staged" && enabled && (
        <Tooltip label="Cancel before it takes effect">
          <ActionIcon
            size="xs"
            aria-label="Cancel this change"
            loading={act.isPending}
            onClick={() =>
              act.mutate(
                { controls: [control], act: "cancel", revision: run.revision },
                { onError: error => toastError("The change was not cancelled", error) },
              )
            }
          >
            <IconX size={12} />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}
