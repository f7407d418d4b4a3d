import { Paper, Skeleton, Stack } from "@mantine/core";

/** Rows of the height that the table will have, so that nothing jumps when it comes. */
export function TableSkeleton({ rows = 6 }: { rows?: number }) {
  return (
    <Paper p="md" aria-busy="true" aria-label="Loading">
      <Stack gap={16}>
        {Array.from({ length: rows }, (_, index) => (
          <Skeleton key={index} height={20} width={`${96 - (index % 3) * 9}%`} />
        ))}
      </Stack>
    </Paper>
  );
}
