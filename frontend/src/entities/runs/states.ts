/** What a run's state allows users to do. */
import type { RunState } from "@/api/model";

const AT_WORK: RunState[] = ["starting", "running", "paused"];

/** A worker holds the run. */
export function isAtWork(state: RunState): boolean {
  return AT_WORK.includes(state);
}

/** Active, or will be once it is resumed or gets a slot: it can be steered and stopped. */
export function isLive(state: RunState): boolean {
  return state === "queued" || state === "suspended" || isAtWork(state);
}

/** Stopped until a user resumes it, with or without its slot. */
export function isStill(state: RunState): boolean {
  return state === "paused" || state === "suspended";
}
