/** Saves the current charts as a named view, and manages saved views. */
import { Button, Group, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import { errorText } from "@/api/http";
import type { ChartsSearch } from "@/entities/runs/search";
import { useCan } from "@/features/session/session";
import { useSubmit } from "@/lib/useSubmit";
import { Loaded } from "@/ui/Loaded";
import { OneView } from "./OneView";
import { chartsOf, searchOf, viewsQuery } from "./views";

interface Props {
  search: ChartsSearch;
  pins: string[];
  onChange: (next: Partial<ChartsSearch>) => void;
}

export function ViewsDialog({ search, pins, onChange }: Props) {
  const query = useQuery(viewsQuery);
  const client = useQueryClient();
  const editor = useCan("editor");
  const [name, setName] = useState("");
  const [shared, setShared] = useState(false);
  const charts = chartsOf(search, pins);
  const keep = useSubmit({
    mutationFn: () => api.createChartView({ name: name.trim(), charts, shared }),
    onSuccess: async view => {
      setName("");
      onChange(searchOf(view));
      await client.invalidateQueries({ queryKey: viewsQuery.queryKey });
    },
  });
  return (
    <Stack gap="md">
      <form
        onSubmit={event => {
          event.preventDefault();
          keep.mutate();
        }}
      >
        <Stack gap={8}>
          <TextInput
            label="Name"
            description="Saves the x axis, smoothing, pinned charts and their order, hidden lines and axes."
            value={name}
            maxLength={80}
            error={keep.error && errorText(keep.error)}
            onChange={event => setName(event.currentTarget.value)}
          />
          <Group justify="space-between">
            <Switch
              label="Share with the team"
              disabled={!editor}
              title={editor ? undefined : "Sharing needs the editor role"}
              checked={shared}
              onChange={event => setShared(event.currentTarget.checked)}
            />
            <Button type="submit" disabled={!name.trim()} loading={keep.isPending}>
              Save view
            </Button>
          </Group>
        </Stack>
      </form>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              No saved views.
            </Text>
          ) : (
            <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
              {data.map(view => (
                <OneView key={view.id} view={view} charts={charts} isEditor={editor} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Stack>
  );
}
