/** What happens to the slot of a paused or suspended run. */
import { Text } from "@mantine/core";
import type { Run } from "@/api/model";
import { formatTime } from "@/lib/format";

export function PauseText({ run }: { run: Run }) {
  const text = pauseText(run);
  if (!text) return null;
  return (
    <Text size="sm" mt={4} data-testid="pause">
      {text}
    </Text>
  );
}

export function pauseText(run: Pick<Run, "pause">, now = Date.now()): string | null {
  const pause = run.pause;
  if (!pause) return null;
  if (!pause.has_place) return `Slot released at ${formatTime(pause.since)}. Resuming queues the run for a new one.`;
  const until = pause.gives_place_back_at;
  if (!until) return null;
  if (Date.parse(until) <= now) return "Saving a checkpoint; then the slot is released.";
  return `Slot reserved until ${formatTime(until)}; then the run is checkpointed and suspended.`;
}
