/** What can be done about a change: cancel it while it is staged, revert it, rewind to before it, fork from there. */
import { Button, Group, Text, Tooltip } from "@mantine/core";
import { modals } from "@mantine/modals";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Control, Run } from "@/api/model";
import { isLive } from "@/entities/runs/states";
import { useCan } from "@/features/session/session";
import { useConnectionLost } from "@/lib/connection";
import { formatValue } from "@/lib/format";
import { toast, toastError } from "@/ui/toast";
import { targetPhrase } from "./labels";
import { useControlAct } from "./useSteer";

interface Props {
  run: Run;
  /** Controls applied together, which are undone together. */
  controls: Control[];
  /** Closes the card that these are part of, if they are part of one. */
  onClose?: () => void;
}

export function ControlActions({ run, controls, onClose }: Props) {
  const act = useControlAct(run.id);
  const operator = useCan("operator");
  const editor = useCan("editor");
  const navigate = useNavigate();
  const lost = useConnectionLost();
  const first = controls[0];
  if (!first || !(operator || editor)) return null;
  const inEffect = controls.every(one => one.state === "applied" || one.state === "settled");
  const checkpoint = controls.find(one => one.checkpoint !== null)?.checkpoint;
  const before = controls.map(one => `${targetPhrase(one.target)} to ${formatValue(one.before)}`);
  const failed = (error: unknown) => toastError("No change was made", error);
  const send = (name: "cancel" | "revert") =>
    act.mutate({ controls, act: name, revision: run.revision }, { onError: failed, onSuccess: onClose });
  const rewind = () => {
    // A card lies above dialogs. Once it is closed, only a promise brings back what has become of the request.
    onClose?.();
    modals.openConfirmModal({
      title: "Rewind to before this change?",
      children: (
        <Text size="sm">
          Creates a draft run from the checkpoint before {targetPhrase(first.target)} was changed, with its optimizer
          and curriculum state. This run does not change.
        </Text>
      ),
      labels: { confirm: "Create run", cancel: "Cancel" },
      onConfirm: () =>
        void act.mutateAsync({ controls, act: "rewind", revision: run.revision }).then(made => {
          toast("Draft run created from the checkpoint before this change.");
          void navigate({ to: "/runs/$runId", params: { runId: made.id } });
        }, failed),
    });
  };
  return (
    <Group gap={4} mt={4}>
      {first.state === "staged" && operator && (
        <Button
          size="compact-xs"
          variant="default"
          loading={act.isPending}
          disabled={lost}
          onClick={() => send("cancel")}
        >
          Cancel
        </Button>
      )}
      {inEffect && operator && isLive(run.state) && (
        <Tooltip label={`Reset ${before.join(" and ")}. The weights do not change`} multiline maw={320}>
          <Button
            size="compact-xs"
            variant="default"
            loading={act.isPending}
            disabled={lost}
            onClick={() => send("revert")}
          >
            Revert
          </Button>
        </Tooltip>
      )}
      {inEffect && editor && (
        <Button size="compact-xs" variant="default" disabled={act.isPending || lost} onClick={rewind}>
          Rewind
        </Button>
      )}
      {inEffect && editor && (
        <Button
          component={Link}
          to={`/runs/new?fork=${run.id}${checkpoint ? `&checkpoint=${checkpoint}` : ""}`}
          size="compact-xs"
          variant="default"
        >
          Fork
        </Button>
      )}
    </Group>
  );
}
