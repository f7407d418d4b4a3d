/** A dry run in progress: its phase and duration, with a cancel button; or why it ended. */
import { Alert, Button, Group, Loader, Progress, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Rehearsal } from "@/api/model";
import { onCluster } from "@/entities/clusters/words";
import { useCan } from "@/features/session/session";
import { formatDuration, percentOf } from "@/lib/format";
import { useNow } from "@/lib/useNow";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { rehearsalQuery } from "./queries";
import { phaseOf } from "./rehearsal";

export function Held({ rehearsal }: { rehearsal: Rehearsal }) {
  const now = useNow();
  const client = useQueryClient();
  const editor = useCan("editor");
  const cancel = useSubmit({
    mutationFn: () => api.cancelRehearsal(rehearsal.id),
    onSuccess: ended => client.setQueryData(rehearsalQuery(rehearsal.id).queryKey, ended),
    onError: () => void client.invalidateQueries({ queryKey: rehearsalQuery(rehearsal.id).queryKey }),
  });
  const since = (Date.parse(rehearsal.started_at ?? rehearsal.created_at) || now) / 1000;
  const { progress } = rehearsal;
  return (
    <div data-testid="rehearsal-held">
      <Group gap="sm" wrap="nowrap" align="flex-start" role="status">
        <Loader size={16} mt={3} />
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={550}>
            {phaseOf(rehearsal)}
          </Text>
          <Text size="xs" c="dimmed" className="num">
            {formatDuration(Math.max(0, Math.floor(now / 1000 - since)))}
            {onCluster(rehearsal.placed_on)}
          </Text>
        </div>
      </Group>
      {progress && progress.total > 0 && (
        <Progress value={percentOf(progress.done, progress.total)} size={6} mt={8} aria-label="Done so far" />
      )}
      {editor && (
        <Button
          size="xs"
          variant="default"
          mt={8}
          onClick={() => cancel.mutate()}
          loading={cancel.isPending}
          data-testid="cancel-rehearsal"
        >
          Cancel dry run
        </Button>
      )}
      {cancel.error !== null && <ErrorState error={cancel.error} />}
    </div>
  );
}

export function Ended({ rehearsal }: { rehearsal: Rehearsal }) {
  if (rehearsal.state === "cancelled") {
    return (
      <Text size="sm" c="dimmed" role="status">
        The dry run was cancelled.
      </Text>
    );
  }
  return (
    <Alert color="red" p="xs" icon={<IconAlertTriangle size={18} />} title="Dry run failed" role="alert">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {rehearsal.error ?? "The worker gave no reason."}
      </Text>
    </Alert>
  );
}
