/** A saved view: rename, replace, share, make it the default, or delete it. */
import { ActionIcon, Button, Group, Menu, Text, TextInput } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import { errorText } from "@/api/http";
import type { ChartsDocument, ChartView, PatchedUpdateChartViewRequest } from "@/api/model";
import { formatAgo } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { toastError } from "@/ui/toast";
import { viewsQuery } from "./views";

interface Props {
  view: ChartView;
  /** The current state of the charts. */
  charts: ChartsDocument;
  isEditor: boolean;
}

export function OneView({ view, charts, isEditor }: Props) {
  const [name, setName] = useState<string | null>(null);
  const client = useQueryClient();
  const again = () => client.invalidateQueries({ queryKey: viewsQuery.queryKey });
  const change = useSubmit({
    mutationFn: (fields: PatchedUpdateChartViewRequest) => api.updateChartView(view.id, fields),
    onSuccess: async () => {
      setName(null);
      await again();
    },
    onError: error => {
      if (name === null) toastError("The view was not changed", error);
    },
  });
  const remove = useSubmit({
    mutationFn: () => api.deleteChartView(view.id),
    onSuccess: again,
    onError: error => toastError("The view was not deleted", error),
  });
  if (name !== null)
    return (
      <li>
        <form
          onSubmit={event => {
            event.preventDefault();
            change.mutate({ name: name.trim() });
          }}
        >
          <Group gap="xs" align="flex-start">
            <TextInput
              style={{ flex: 1 }}
              aria-label="View name"
              value={name}
              maxLength={80}
              error={change.error && errorText(change.error)}
              onChange={event => setName(event.currentTarget.value)}
            />
            <Button type="submit" disabled={!name.trim()} loading={change.isPending}>
              Rename
            </Button>
            <Button variant="default" onClick={() => setName(null)}>
              Cancel
            </Button>
          </Group>
        </form>
      </li>
    );
  const reach = view.default ? "Team default" : view.shared ? "Shared with the team" : "Private";
  return (
    <li>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={550} truncate>
            {view.name}
          </Text>
          <Text size="xs" c="dimmed">
            {reach}. By {view.created_by}, {formatAgo(view.created_at)}.
          </Text>
        </div>
        {(isEditor || !view.shared) && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" aria-label={`Change ${view.name}`} loading={change.isPending}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setName(view.name)}>Rename</Menu.Item>
              <Menu.Item onClick={() => change.mutate({ charts })}>Replace with current charts</Menu.Item>
              {isEditor && (
                <Menu.Item onClick={() => change.mutate({ shared: !view.shared, default: false })}>
                  {view.shared ? "Stop sharing" : "Share with the team"}
                </Menu.Item>
              )}
              {isEditor && view.shared && (
                <Menu.Item onClick={() => change.mutate({ default: !view.default })}>
                  {view.default ? "Remove as team default" : "Make team default"}
                </Menu.Item>
              )}
              <Menu.Divider />
              <Menu.Item color="red" onClick={() => remove.mutate()}>
                Delete
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
    </li>
  );
}
