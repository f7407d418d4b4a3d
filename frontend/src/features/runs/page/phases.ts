/** The current phase of a run, and its duration compared with the usual one. Pure functions. */
import type { Cost, Run } from "@/api/model";
import { DASH, formatDuration, humanize } from "@/lib/format";

const DOING: Record<string, string> = {
  generate: "generating",
  learn: "learning",
  evaluate: "evaluating",
  checkpoint: "saving",
  loading: "loading",
  waiting: "waiting",
};

/** "generating" of the phase "generate"; a phase that is not known keeps its name. */
export function doing(phase: string): string {
  return DOING[phase] ?? humanize(phase).toLowerCase();
}

export interface PhaseAge {
  /** Seconds since it started; null if unknown. */
  age: number | null;
  /** The time that 95 % of the run's last steps stayed within; null before there are enough. */
  p95: number | null;
  isLate: boolean;
}

export function phaseAge(run: Pick<Run, "progress" | "summary">, now: number): PhaseAge {
  const { progress, summary } = run;
  const since = progress?.since ? Date.parse(progress.since) : NaN;
  const age = Number.isNaN(since) ? null : Math.max(0, (now - since) / 1000);
  const p95 = progress ? (summary.p95_seconds?.[progress.phase] ?? null) : null;
  return { age, p95, isLate: age !== null && p95 !== null && age > p95 };
}

/** Share of the phase that is done; null if the worker does not count it, so that no bar is shown. */
export function shareDone(progress: Run["progress"]): number | null {
  if (!progress || progress.total <= 0) return null;
  return Math.min(1, progress.done / progress.total);
}

/** "12 to 15 min": how long the run still takes, if its steps stay as they are; one time before there is a spread. */
export function timeLeft(
  summary: Pick<Run["summary"], "eta_seconds" | "eta_low_seconds" | "eta_high_seconds">,
): string {
  const { eta_low_seconds: low, eta_high_seconds: high } = summary;
  if (typeof low !== "number" || typeof high !== "number") return formatDuration(rounded(summary.eta_seconds));
  const [from, to] = [formatDuration(rounded(low)), formatDuration(rounded(high))];
  if (from === to) return from;
  const unit = /^\S+( \S+)$/.exec(to)?.[1];
  const isSame = unit !== undefined && /^\S+ \S+$/.test(from) && from.endsWith(unit);
  return `${isSame ? from.slice(0, -unit.length) : from} to ${to}`;
}

/** Rounded for readers: whole seconds below a minute, five seconds below an hour, then minutes. */
function rounded(seconds: number | null | undefined): number | null {
  if (seconds === null || seconds === undefined) return null;
  if (seconds < 60) return Math.round(seconds);
  return seconds < 3600 ? Math.round(seconds / 5) * 5 : Math.round(seconds / 60) * 60;
}

/** "0.42 GPU h", with its price if there is one; slot hours on a cluster without GPUs. */
export function costText(cost: Cost | undefined): string {
  if (!cost) return DASH;
  const hours = cost.gpu_hours > 0 ? `${hoursText(cost.gpu_hours)} GPU h` : `${hoursText(cost.place_hours)} h`;
  if (typeof cost.price !== "number" || cost.gpu_hours === 0) return hours;
  return `${hours} · ${cost.price.toFixed(2)} ${cost.currency ?? ""}`;
}

function hoursText(hours: number): string {
  return hours >= 100 ? hours.toFixed(0) : hours >= 10 ? hours.toFixed(1) : hours.toFixed(2);
}
