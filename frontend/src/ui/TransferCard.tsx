/** Transfers: their progress, or what to do about a failure, and buttons for users who may act. */
import { Alert, Button, Group, Paper, Progress, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { percent } from "./transfer-text";

interface Transfer {
  state: string;
  error: string;
  bytes_done: number;
  bytes_total: number;
}

interface Props {
  row: Transfer;
  name: string;
  /** Where the files come from, or go to. */
  place: string;
  /** One line about the progress. */
  progress: string;
  /** Whether a worker has it or will have it; else it has failed, or waits for a person. */
  open: boolean;
  editor: boolean;
  act: { mutate: (what: "cancel" | "retry") => void; isPending: boolean };
  /** Further buttons. */
  buttons?: ReactNode;
  /** Further lines about an error. */
  details?: ReactNode;
  testId: string;
}

export function TransferCard({ row, name, place, progress, open, editor, act, buttons, details, testId }: Props) {
  const failed = row.state === "failed";
  const queued = row.state === "queued";
  const share = percent(row);
  return (
    <Paper p="md" component="article" data-testid={testId} data-state={row.state}>
      <Group justify="space-between" gap="xs" mb={4}>
        <Title order={2}>{name}</Title>
        {editor && (
          <Group gap="xs">
            {buttons}
            {failed && (
              <Button size="compact-sm" variant="default" onClick={() => act.mutate("retry")} loading={act.isPending}>
                Retry
              </Button>
            )}
            <Button size="compact-sm" variant="default" onClick={() => act.mutate("cancel")} loading={act.isPending}>
              {failed ? "Remove" : "Cancel"}
            </Button>
          </Group>
        )}
      </Group>
      <Text size="xs" c="dimmed" className="mono" style={{ overflowWrap: "anywhere" }}>
        {place}
      </Text>
      {open ? (
        <>
          <Progress
            mt="sm"
            value={share ?? (queued ? 0 : 100)}
            animated={share === null && !queued}
            color={queued ? "gray" : undefined}
            aria-label={`Progress of ${name}`}
          />
          <Text size="sm" mt={6} className="num">
            {progress}
          </Text>
          {row.error !== "" && (
            <Text size="xs" c="dimmed">
              {row.error}
            </Text>
          )}
        </>
      ) : (
        <Alert color={failed ? "red" : undefined} mt="sm" role={failed ? "alert" : "status"}>
          {row.error}
          {details}
        </Alert>
      )}
    </Paper>
  );
}
