/** A job that waits, works or has failed. */
import { Alert, Button, Group, Progress, Text } from "@mantine/core";
import type { LabJob } from "@/api/model";
import { isOpen, percent, progressText } from "./lab-text";

export function JobState({ job, editor, onCancel }: { job: LabJob; editor: boolean; onCancel: () => void }) {
  if (job.state === "failed")
    return (
      <Alert color="red" role="alert" mb="sm" title="The last job has failed">
        {job.error}
      </Alert>
    );
  if (!isOpen(job)) return null;
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
