/** Imports on their way, with how far each has come, and those that have failed, with what to do. */
import { Alert, Button, Group, Paper, Progress, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import * as api from "@/api/client";
import type { PolicyImport } from "@/api/model";
import { toastError } from "@/ui/toast";
import { isOpen, percent, progressText, shown } from "./data/imports";
import { importsQuery } from "./data/queries";

export function Imports({ editor }: { editor: boolean }) {
  const rows = useQuery(importsQuery).data?.data ?? [];
  const client = useQueryClient();
  const ready = rows.filter(row => row.state === "ready").length;
  useEffect(() => {
    if (ready > 0) void client.invalidateQueries({ queryKey: ["policies"], exact: true });
  }, [client, ready]);
  const found = shown(rows);
  if (found.length === 0) return null;
  return (
    <Stack component="section" aria-label="Imports" gap="sm" mb="md">
      {found.map(row => (
        <ImportCard key={row.id} row={row} editor={editor} />
      ))}
    </Stack>
  );
}

export function ImportCard({ row, editor }: { row: PolicyImport; editor: boolean }) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "cancel" | "retry") =>
      what === "cancel" ? api.cancelPolicyImport(row.id) : api.retryPolicyImport(row.id),
    onError: error => toastError("The import was not changed", error),
    onSettled: () => void client.invalidateQueries({ queryKey: ["policy-imports"] }),
  });
  const share = percent(row);
  const revision = row.commit.slice(0, 8) || row.revision;
  return (
    <Paper p="md" component="article" data-testid="policy-import" data-state={row.state}>
      <Group justify="space-between" gap="xs" mb={4}>
        <Title order={2}>{row.name}</Title>
        {editor && (
          <Group gap="xs">
            {row.state === "failed" && (
              <Button size="compact-sm" variant="default" onClick={() => act.mutate("retry")} loading={act.isPending}>
                Retry
              </Button>
            )}
            <Button size="compact-sm" variant="default" onClick={() => act.mutate("cancel")} loading={act.isPending}>
              {isOpen(row) ? "Cancel" : "Remove"}
            </Button>
          </Group>
        )}
      </Group>
      <Text size="xs" c="dimmed" className="mono" style={{ overflowWrap: "anywhere" }}>
        {row.location}
        {revision && ` @ ${revision}`}
      </Text>
      {row.state === "failed" ? (
        <Alert color="red" mt="sm" role="alert">
          {row.error}
        </Alert>
      ) : (
        <>
          <Progress
            mt="sm"
            value={share ?? (row.state === "queued" ? 0 : 100)}
            animated={share === null && row.state !== "queued"}
            color={row.state === "queued" ? "gray" : undefined}
            aria-label={`Progress of ${row.name}`}
          />
          <Text size="sm" mt={6} className="num">
            {progressText(row)}
          </Text>
          {row.error !== "" && (
            <Text size="xs" c="dimmed">
              {row.error}
            </Text>
          )}
        </>
      )}
    </Paper>
  );
}
