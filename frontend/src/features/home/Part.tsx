/** One part of the home page: a heading, its rows, and a text if there are none. */
import { Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  title: string;
  empty: string;
  testId: string;
  children: ReactNode[];
}

export function Part({ title, empty, testId, children }: Props) {
  return (
    <Paper p="md" component="section" aria-label={title} data-testid={testId}>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {children.length === 0 ? (
        <Text size="sm" c="dimmed">
          {empty}
        </Text>
      ) : (
        <Stack gap="sm">{children}</Stack>
      )}
    </Paper>
  );
}
