import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Run } from "@/api/model";

export function RunName({ run }: { run: Pick<Run, "id" | "name"> }) {
  return (
    <Anchor
      component={Link}
      to={`/runs/${run.id}`}
      size="sm"
      fw={550}
      c="var(--c-text)"
      truncate
      title={run.name}
      style={{ minWidth: 0 }}
    >
      {run.name}
    </Anchor>
  );
}
