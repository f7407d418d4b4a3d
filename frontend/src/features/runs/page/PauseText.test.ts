import { expect, test } from "vitest";
import { formatTime } from "@/lib/format";
import { pauseText } from "./PauseText";

const SINCE = "2026-11-22T12:04:00.000Z";
const UNTIL = "2026-11-22T12:19:00.000Z";
const NOW = Date.parse(SINCE);

test("a paused run says until when it keeps its place", () => {
  const pause = { since: SINCE, has_place: true, gives_place_back_at: UNTIL };
  expect(pauseText({ pause }, NOW)).toBe(
    `Slot reserved until ${formatTime(UNTIL)}; then the run is checkpointed and suspended.`,
  );
  expect(pauseText({ pause }, Date.parse(UNTIL))).toBe("Saving a checkpoint; then the slot is released.");
});

test("a suspended run says when its place was given back, and what resuming does", () => {
  const pause = { since: SINCE, has_place: false, gives_place_back_at: null };
  expect(pauseText({ pause }, NOW)).toBe(
    `Slot released at ${formatTime(SINCE)}. Resuming queues the run for a new one.`,
  );
});

test("any other run says nothing", () => {
  expect(pauseText({ pause: null }, NOW)).toBeNull();
});
