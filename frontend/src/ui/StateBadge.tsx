import { Badge } from "@mantine/core";
import type { RunState } from "@/api/model";

const COLORS: Record<RunState, string> = {
  draft: "gray",
  queued: "gray",
  starting: "petrol",
  running: "petrol",
  paused: "yellow",
  succeeded: "green",
  failed: "red",
  cancelled: "gray",
};
const LIVE: RunState[] = ["starting", "running"];

/** A run's state: colour, word, and a pulse while it works. */
export function StateBadge({ state, size = "sm" }: { state: RunState; size?: "sm" | "md" }) {
  return (
    <Badge
      color={COLORS[state]}
      size={size}
      data-testid="run-state"
      data-state={state}
      leftSection={
        <span
          aria-hidden="true"
          className={LIVE.includes(state) ? "pulse" : undefined}
          style={{
            display: "block",
            width: 7,
            height: 7,
            borderRadius: state === "paused" ? 1 : 9,
            background: "currentColor",
            opacity: state === "draft" || state === "queued" ? 0.5 : 1,
          }}
        />
      }
    >
      {state}
    </Badge>
  );
}
