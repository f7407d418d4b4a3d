import { Paper, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Shown instead of an empty table: why it is empty. */
export function Nothing({ children }: { children: ReactNode }) {
  return (
    <Paper p="lg">
      <Text c="dimmed" ta="center">
        {children}
      </Text>
    </Paper>
  );
}
