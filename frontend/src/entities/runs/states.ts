/** What a run's state means for those who watch and steer it. */
import type { RunState } from "@/api/model";

const AT_WORK: RunState[] = ["starting", "running", "paused"];

/** A worker holds the run. */
export function isAtWork(state: RunState): boolean {
  return AT_WORK.includes(state);
}

/** The run goes, or will once it is resumed or there is a place: it can be steered and stopped. */
export function isLive(state: RunState): boolean {
  return state === "queued" || state === "suspended" || isAtWork(state);
}

/** The run stands still until somebody resumes it, with its place or without. */
export function isStill(state: RunState): boolean {
  return state === "paused" || state === "suspended";
}
