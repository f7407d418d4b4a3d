/** The team's unfinished uploads. Choosing the same file again resumes one. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import { formatBytes, formatTime } from "@/lib/format";
import { ErrorState } from "@/ui/ErrorState";
import { toastError } from "@/ui/toast";
import { uploadsQuery } from "./queries";

export function UnfinishedUploads() {
  const uploads = useQuery(uploadsQuery);
  const rows = uploads.data?.data ?? [];
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: (id: string) => api.cancelDatasetUpload(id),
    onError: error => toastError("The upload was not removed", error),
    onSettled: () => void client.invalidateQueries({ queryKey: uploadsQuery.queryKey }),
  });
  if (uploads.isError) return <ErrorState error={uploads.error} retry={() => void uploads.refetch()} />;
  if (rows.length === 0) return null;
  return (
    <Alert p="xs" title="Unfinished uploads" data-testid="unfinished-uploads">
      <Stack gap={6}>
        {rows.map(row => (
          <Group key={row.id} justify="space-between" gap="xs" wrap="nowrap">
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              <b>{row.name}</b>: {formatBytes(row.offset)} of {formatBytes(row.size)} by {row.created_by}, kept until{" "}
              {formatTime(row.expires_at)}
            </Text>
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Remove ${row.name}`}
              loading={remove.isPending && remove.variables === row.id}
              onClick={() => remove.mutate(row.id)}
            >
              Remove
            </Button>
          </Group>
        ))}
        <Text size="xs" c="dimmed">
          To resume, choose the same file in the browser that started the upload.
        </Text>
      </Stack>
    </Alert>
  );
}
