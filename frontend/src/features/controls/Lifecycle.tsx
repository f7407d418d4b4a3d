/** Start, pause, resume, checkpoint, stop. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import {
  IconBookmark,
  IconDoorExit,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconRulerMeasure,
} from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import * as api from "@/api/client";
import type { Run } from "@/api/model";
import { samples } from "@/entities/runs/objective";
import { isAtWork, isLive, isStill } from "@/entities/runs/states";
import { useCan } from "@/features/session/session";
import { useConnectionLost } from "@/lib/connection";
import { useSubmit } from "@/lib/useSubmit";
import { toast, toastError } from "@/ui/toast";

const ACTS = {
  start: api.startRun,
  pause: api.pauseRun,
  resume: api.resumeRun,
  cancel: api.cancelRun,
  checkpoint: api.checkpointRun,
  release: api.releaseRun,
  measureNoise: api.measureRunNoise,
};
type RunAct = keyof typeof ACTS;

const FAILED: Record<RunAct, string> = {
  start: "The run was not started",
  pause: "The run was not paused",
  resume: "The run was not resumed",
  cancel: "The run was not stopped",
  checkpoint: "The checkpoint was not requested",
  release: "The slot was not released",
  measureNoise: "The noise was not recalibrated",
};

export function useRunAct(run: Run) {
  const client = useQueryClient();
  return useSubmit({
    mutationFn: (act: RunAct) => ACTS[act](run.id),
    onSuccess: (_, act) => {
      if (act === "release") toast("The worker saves a checkpoint and releases the slot.");
      if (act === "measureNoise") toast("Resume the run to recalibrate the noise on new engines.");
      if (act === "checkpoint") toast("The worker saves a checkpoint after the current step.");
    },
    onError: (error, act) => toastError(FAILED[act], error),
    onSettled: () => void client.invalidateQueries({ queryKey: ["run", run.id], exact: true }),
  });
}

export function Lifecycle({ run }: { run: Run }) {
  const act = useRunAct(run);
  const operator = useCan("operator");
  const editor = useCan("editor");
  const busy = (name: RunAct) => act.isPending && act.variables === name;
  const lost = useConnectionLost();
  const common = { size: "xs", disabled: !operator || act.isPending || lost } as const;
  const wished = wish(run);
  const hasCheckpoint = run.last_checkpoint !== null || run.parent?.continues === true;
  const stop = () =>
    modals.openConfirmModal({
      title: "Stop this run?",
      children: (
        <Text size="sm">
          The worker stops after the current step and keeps the last checkpoint. A stopped run cannot be resumed, only
          forked.
        </Text>
      ),
      labels: { confirm: "Stop run", cancel: "Keep running" },
      confirmProps: { color: "red" },
      onConfirm: () => act.mutate("cancel"),
    });
  const measureNoise = () =>
    modals.openConfirmModal({
      title: "Recalibrate numerics noise?",
      children: (
        <Text size="sm">
          Every weight update is checked against the engine–learner noise measured at the start. Recalibrate it if the
          engine version, the hardware or a number type has changed. When the run resumes, its new engines' weights are
          read back first. If they differ from the published ones, the run pauses again.
        </Text>
      ),
      labels: { confirm: "Recalibrate", cancel: "Cancel" },
      onConfirm: () => act.mutate("measureNoise"),
    });
  const active = isAtWork(run.state);
  const live = isLive(run.state);
  return (
    <Stack gap={8}>
      <Group gap={6} grow>
        {run.state === "draft" && (
          <Button
            {...common}
            leftSection={<IconPlayerPlay size={14} />}
            loading={busy("start")}
            onClick={() => act.mutate("start")}
          >
            Start
          </Button>
        )}
        {run.state === "failed" && (
          <Button
            {...common}
            leftSection={<IconPlayerPlay size={14} />}
            loading={busy("resume")}
            onClick={() => act.mutate("resume")}
            data-testid="resume"
          >
            {hasCheckpoint ? "Resume from the last checkpoint" : "Retry from the beginning"}
          </Button>
        )}
        {run.state === "failed" && editor && (
          <Button
            size="xs"
            variant="default"
            component={Link}
            to={`/runs/new?fork=${run.id}`}
            leftSection={<IconPencil size={14} />}
          >
            Edit and retry
          </Button>
        )}
        {run.state === "suspended" && (
          <Button
            {...common}
            leftSection={<IconPlayerPlay size={14} />}
            loading={busy("resume")}
            onClick={() => act.mutate("resume")}
            data-testid="resume"
          >
            Resume: queue for a slot
          </Button>
        )}
        {active &&
          (run.state === "paused" || run.desired_state === "paused" ? (
            <Button
              {...common}
              leftSection={<IconPlayerPlay size={14} />}
              loading={busy("resume")}
              onClick={() => act.mutate("resume")}
              data-testid="resume"
            >
              Resume
            </Button>
          ) : (
            <Button
              {...common}
              variant="default"
              leftSection={<IconPlayerPause size={14} />}
              loading={busy("pause")}
              onClick={() => act.mutate("pause")}
              data-testid="pause"
            >
              Pause
            </Button>
          ))}
        {live && (
          <Button
            {...common}
            variant="default"
            c="var(--c-bad)"
            leftSection={<IconPlayerStop size={14} />}
            loading={busy("cancel")}
            onClick={stop}
            data-testid="stop"
          >
            Stop
          </Button>
        )}
      </Group>
      {(run.state === "running" || run.state === "paused") && (
        <Button
          {...common}
          variant="default"
          leftSection={<IconBookmark size={14} />}
          loading={busy("checkpoint")}
          onClick={() => act.mutate("checkpoint")}
          data-testid="checkpoint-now"
        >
          Checkpoint now
        </Button>
      )}
      {run.state === "paused" && run.desired_state === "paused" && (
        <Button
          {...common}
          variant="default"
          leftSection={<IconDoorExit size={14} />}
          loading={busy("release")}
          onClick={() => act.mutate("release")}
          data-testid="release"
        >
          Release slot
        </Button>
      )}
      {(isStill(run.state) || run.state === "failed") && samples(run) && (
        <Button
          {...common}
          variant="default"
          leftSection={<IconRulerMeasure size={14} />}
          loading={busy("measureNoise")}
          onClick={measureNoise}
          data-testid="measure-noise"
        >
          Recalibrate numerics noise
        </Button>
      )}
      {lost && (
        <Text size="xs" c="var(--c-warn)" role="status">
          Offline. Changes are not being sent or queued.
        </Text>
      )}
      {run.state === "failed" && !hasCheckpoint && (
        <Text size="xs" c="dimmed">
          It failed before its first checkpoint, so it cannot be resumed.
        </Text>
      )}
      {wished && (
        <Text size="xs" c="var(--c-control)" role="status">
          {wished}
        </Text>
      )}
      {!live && run.state !== "draft" && run.state !== "failed" && (
        <Text size="xs" c="dimmed">
          This run has ended. Fork it from a checkpoint to continue.
        </Text>
      )}
    </Stack>
  );
}

/** A request to the worker that is still pending. */
function wish(run: Run): string | null {
  if (run.state === "running" && run.desired_state === "paused") return "Pausing after the present step…";
  if (run.state === "paused" && run.desired_state === "running") return "Resuming…";
  if (isAtWork(run.state) && run.desired_state === "cancelled") return "Stopping…";
  return null;
}
