/** The progress of an upload, with its actions. */
import { Button, Group, Progress, Stack, Text } from "@mantine/core";
import { transferText } from "./transfer-text";
import type { Transfer } from "./useTransfer";

interface Props {
  transfer: Transfer;
  onPause: () => void;
  onResume: () => void;
  onCancel: () => void;
}

export function TransferProgress({ transfer, onPause, onResume, onCancel }: Props) {
  const checking = transfer.phase === "checking";
  const still = transfer.phase === "paused" || transfer.phase === "waiting";
  const share = (100 * transfer.sent) / Math.max(1, transfer.total);
  return (
    <Stack gap={6} data-testid="transfer" data-phase={transfer.phase}>
      <Progress
        value={share}
        animated={checking}
        color={still ? "gray" : undefined}
        aria-label={checking ? "Checking rows" : "Upload progress"}
      />
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" role="status" className="num">
          {transferText(transfer)}
        </Text>
        {!checking && (
          <Group gap="xs">
            {transfer.phase === "paused" ? (
              <Button size="compact-sm" variant="default" onClick={onResume}>
                Resume
              </Button>
            ) : (
              <Button size="compact-sm" variant="default" onClick={onPause}>
                Pause
              </Button>
            )}
            <Button size="compact-sm" variant="default" onClick={onCancel}>
              Cancel upload
            </Button>
          </Group>
        )}
      </Group>
    </Stack>
  );
}
