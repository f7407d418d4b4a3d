/** One adjustable part of the rail: draft → reason → send → how far the worker is. */
import { ActionIcon, Alert, Button, Group, Loader, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import type { Control, Json, JsonSchema, Run, Target } from "@/api/model";
import { ErrorState } from "@/ui/ErrorState";
import { toastError } from "@/ui/toast";
import { ControlChange } from "./ControlChange";
import { BOUNDARIES, targetLabel } from "./labels";
import { changes, conflictOf, type Drafts, faultOf, lastFor, progressText, stagedFor } from "./model";
import { useControlAct, useSteer } from "./useSteer";

export interface KnobState {
  /** What the person is at, else what is staged, else what is in force. */
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
  const [drafts, setDrafts] = useState<Drafts>({});
  const [reason, setReason] = useState("");
  const steer = useSteer(run.id);
  const pending = changes(drafts, targets, controls);
  const faults = pending.flatMap(({ target, value }) => {
    const fault = faultOf(value, (targets.find(one => one.path === target)?.schema ?? {}) as JsonSchema);
    return fault === null ? [] : [targets.length === 1 ? fault : `${targetLabel(target)}: ${fault}`];
  });
  const reset = () => {
    setDrafts({});
    setReason("");
    steer.reset();
  };
  const apply = (revision: number) => {
    if (faults.length === 0) steer.mutate({ changes: pending, reason: reason.trim(), revision }, { onSuccess: reset });
  };
  const state: KnobState = {
    value: path =>
      drafts[path] ?? stagedFor(controls, path)?.value ?? targets.find(target => target.path === path)?.value ?? null,
    set: (path, value) => setDrafts(previous => ({ ...previous, [path]: value })),
    disabled: !enabled || steer.isPending,
  };
  // `null` is a value here ("no limit"), so a draft of null must win over what is in force.
  const value = state.value;
  state.value = path => (path in drafts ? (drafts[path] as Json) : value(path));
  const conflict = conflictOf(steer.error);
  const boundary = targets.find(target => target.path === pending[0]?.target)?.boundary;
  return (
    <div data-testid={testId}>
      {children(state)}
      {pending.length > 0 && (
        <Stack gap={6} mt={8} component="form" onSubmit={event => (event.preventDefault(), apply(run.revision))}>
          {faults.map(fault => (
            <Text key={fault} size="xs" c="var(--c-bad)" role="alert">
              {fault}
            </Text>
          ))}
          <TextInput
            size="xs"
            placeholder="Reason (kept in the history)"
            aria-label="Reason for the change"
            value={reason}
            maxLength={2000}
            onChange={event => setReason(event.currentTarget.value)}
          />
          <Group gap={6} wrap="nowrap">
            <Tooltip label={boundary ? BOUNDARIES[boundary] : ""} disabled={!boundary}>
              <Button type="submit" size="xs" loading={steer.isPending} disabled={faults.length > 0} flex={1}>
                {pending.length === 1 ? "Apply" : `Apply ${pending.length} changes`}
              </Button>
            </Tooltip>
            <Button size="xs" variant="default" onClick={reset}>
              Discard
            </Button>
          </Group>
        </Stack>
      )}
      {conflict && (
        <Alert color="yellow" mt={8} p="xs" title="Someone else was quicker" data-testid="control-conflict">
          {conflict.others.map((other, index) => (
            <Text key={index} size="xs">
              {other.actor}: <ControlChange control={{ target: "", before: null, value: null, ...other }} />
              {other.reason && ` – “${other.reason}”`}
            </Text>
          ))}
          <Group gap={6} mt={6}>
            <Button size="compact-xs" onClick={() => apply(conflict.revision ?? run.revision)}>
              Apply mine all the same
            </Button>
            <Button size="compact-xs" variant="default" onClick={reset}>
              Keep theirs
            </Button>
          </Group>
        </Alert>
      )}
      {steer.error && !conflict && (
        <div style={{ marginTop: 8 }}>
          <ErrorState error={steer.error} />
        </div>
      )}
      {targets.map(target => {
        const last = lastFor(controls, target.path, run.step);
        return last ? <Progress key={target.path} run={run} control={last} enabled={enabled} /> : null;
      })}
    </div>
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
        <ControlChange control={control} /> {progressText(control)}
      </Text>
      {control.state === "staged" && enabled && (
        <Tooltip label="Cancel before it takes effect">
          <ActionIcon
            size="xs"
            aria-label="Cancel this change"
            loading={act.isPending}
            onClick={() =>
              act.mutate(
                { control, act: "cancel", revision: run.revision },
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
