import { Badge } from "@mantine/core";
import type { RunState } from "@/api/model";

const COLORS: Record<RunState, string> = {
  draft: "gray",
  queued: "gray",
  starting: "petrol",
  running: "petrol",
  paused: "yellow",
  suspended: "yellow",
  succeeded: "green",
  failed: "red",
  cancelled: "gray",
};
const LIVE: RunState[] = ["starting", "running"];
const FAINT: RunState[] = ["draft", "queued", "suspended"];

/** A run's state: colour, word, and a pulse while it works. */
export function StateBadge({ state, size = "sm" }: { state: RunState; size?: "sm" | "md" }) {
  return (
    <Badge
      color={COLORS[state]}
      size={size}
      style={{ flex: "none" }} // whole next to a long name
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
            borderRadius: state === "paused" || state === "suspended" ? 1 : 9,
            background: "currentColor",
            opacity: FAINT.includes(state) ? 0.5 : 1,
          }}
        />
      }
    >
      {state}
    </Badge>
  );
}
