/** A job that is queued, running or failed. */
import { Alert, Button, Group, Progress, Text } from "@mantine/core";
import type { LabJob } from "@/api/model";
import { isAtWork, percent, progressText } from "./lab-text";

interface Props {
  job: LabJob;
  editor: boolean;
  resuming: boolean;
  onResume: () => void;
  onCancel: () => void;
}

export function JobState({ job, editor, resuming, onResume, onCancel }: Props) {
  if (job.state === "failed")
    return (
      <Alert color="red" role="alert" mb="sm" title="The last job failed">
        {job.error}
      </Alert>
    );
  if (job.state === "waiting")
    return (
      <Alert color="yellow" role="status" mb="sm" title="Done, not stored yet" data-testid="lab-waiting">
        <Text size="sm">{job.error}</Text>
        {editor && (
          <Group gap="xs" mt="sm">
            <Button size="xs" loading={resuming} onClick={onResume}>
              Resume
            </Button>
            <Button size="xs" variant="default" onClick={onCancel}>
              Cancel
            </Button>
          </Group>
        )}
      </Alert>
    );
  if (!isAtWork(job)) return null;
  const share = percent(job);
  return (
    <Group mb="sm" gap="sm" wrap="nowrap" align="center" data-testid="lab-progress">
      <div style={{ flex: 1, minWidth: 0 }}>
        <Progress value={share ?? 100} animated={share === null} aria-label="Progress" />
        <Text size="sm" mt={6} className="num" role="status">
          {progressText(job)}
        </Text>
      </div>
      {editor && (
        <Button size="compact-sm" variant="default" onClick={onCancel}>
          Cancel
        </Button>
      )}
    </Group>
  );
}
