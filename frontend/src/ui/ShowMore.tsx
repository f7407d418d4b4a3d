import { Button, Group } from "@mantine/core";

interface Props {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  label?: string;
}

/** Below a table: the next page of it, as long as there is one. */
export function ShowMore({ query, label = "Show more" }: Props) {
  if (!query.hasNextPage) return null;
  return (
    <Group justify="center" mt="sm">
      <Button size="xs" variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {label}
      </Button>
    </Group>
  );
}
