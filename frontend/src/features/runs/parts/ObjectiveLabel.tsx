import { Badge } from "@mantine/core";
import type { Run } from "@/api/model";
import { runObjective, wordsOf } from "@/entities/runs/objective";

/** What a run learns from, where this is not a reward. */
export function ObjectiveLabel({ run }: { run: Run }) {
  const objective = runObjective(run);
  if (objective === "rl") return null;
  const { short, title } = wordsOf(objective);
  return (
    <Badge
      size="xs"
      variant="outline"
      color="gray"
      title={`Learns from ${title.toLowerCase()}`}
      style={{ flex: "none" }} // whole next to a long name
      data-testid="objective-label"
    >
      {short}
    </Badge>
  );
}
