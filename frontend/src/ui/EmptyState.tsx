import { Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  icon: ReactNode;
  title: string;
  children: ReactNode;
  action?: ReactNode;
}

/** An empty list that says what would be in it and offers the first step. */
export function EmptyState({ icon, title, children, action }: Props) {
  return (
    <Paper p="xl" py={56}>
      <Stack align="center" gap="xs">
        <div style={{ color: "var(--c-text-3)" }}>{icon}</div>
        <Title order={2}>{title}</Title>
        <Text c="dimmed" ta="center" maw={460}>
          {children}
        </Text>
        {action && <div style={{ marginTop: 8 }}>{action}</div>}
      </Stack>
    </Paper>
  );
}
