import { Paper, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** In the place of a table without rows: why there are none. */
export function Nothing({ children }: { children: ReactNode }) {
  return (
    <Paper p="lg">
      <Text c="dimmed" ta="center">
        {children}
      </Text>
    </Paper>
  );
}
