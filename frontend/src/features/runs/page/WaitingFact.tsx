/** Why a run is queued, with links to the team's runs that hold the slots. */
import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Run } from "@/api/model";

export function WaitingFact({ run }: { run: Run }) {
  const own = run.waiting?.own ?? [];
  return (
    <div style={{ whiteSpace: "normal", fontWeight: 450 }} data-testid="waiting">
      {run.state_reason || "waiting"}
      {own.length > 0 && (
        <Text size="xs" c="dimmed">
          Open:{" "}
          {own.map((holder, index) => (
            <span key={holder.id}>
              {index > 0 && ", "}
              <Anchor component={Link} to={`/runs/${holder.id}`} inherit>
                {holder.name}
              </Anchor>
            </span>
          ))}
        </Text>
      )}
    </div>
  );
}
