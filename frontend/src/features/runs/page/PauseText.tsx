/** What becomes of the place of a run that stands still, in words. */
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
  if (!pause.has_place)
    return `Its place was given back at ${formatTime(pause.since)}; resuming queues it for a new one.`;
  const until = pause.gives_place_back_at;
  if (!until) return null;
  if (Date.parse(until) <= now) return "It is being saved, and gives its place back when its checkpoint is written.";
  return `It keeps its place until ${formatTime(until)}; then it is saved and gives the place back.`;
}
