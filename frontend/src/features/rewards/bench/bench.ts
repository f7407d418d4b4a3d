/** The bench's view of a job and its request: pure functions over documents. */
import type { BenchFlag, BenchJob, BenchSample, BenchScore, CreateBenchJobRequest, Json, Spec } from "@/api/model";
import { type Pasted, toBody } from "@/features/rewards/samples/samples";
import { DASH, formatNumber } from "@/lib/format";

export type Flip = "gained" | "lost" | "unclear";

/** One sample with what each definition makes of it. */
export interface BenchRow {
  sample: BenchSample;
  /** One per definition; null while the job has no results. */
  scores: (BenchScore | null)[];
  /** How the verdict changes from the first definition to the second; null if it does not. */
  flip: Flip | null;
  /** Second minus first, where both have a reward. */
  change: number | null;
  flags: BenchFlag[];
}

export function benchRows(job: BenchJob): BenchRow[] {
  const flips = new Map(job.flips.map(flip => [flip.sample, flip]));
  return job.samples.map((sample, index) => {
    const scores = job.definitions.map((_, at) => job.results?.[at]?.[index] ?? null);
    const [first, second] = scores.map(score => score?.reward ?? null);
    const flip = flips.get(sample.id);
    return {
      sample,
      scores,
      flip: flip ? direction(flip.before, flip.after) : null,
      change: typeof first === "number" && typeof second === "number" ? second - first : null,
      flags: job.flags.filter(flag => flag.sample === sample.id),
    };
  });
}

function direction(before: boolean | null, after: boolean | null): Flip {
  if (before === null || after === null) return "unclear";
  return after ? "gained" : "lost";
}

export const SHOWN = ["all", "flips", "errors", "probes", "flagged"] as const;
export type Shown = (typeof SHOWN)[number];

const FITS: Record<Shown, (row: BenchRow) => boolean> = {
  all: () => true,
  flips: row => row.flip !== null,
  errors: row => row.scores.some(score => score !== null && (score.error !== null || score.forgiven.length > 0)),
  probes: row => row.sample.probe !== null,
  flagged: row => row.flags.length > 0,
};

export function shownRows(rows: BenchRow[], shown: Shown): BenchRow[] {
  return rows.filter(FITS[shown]);
}

export function counts(rows: BenchRow[]): Record<Shown, number> {
  return Object.fromEntries(SHOWN.map(shown => [shown, shownRows(rows, shown).length])) as Record<Shown, number>;
}

/** A definition on the bench: a stored version by its ref, or the draft. */
export const DRAFT = "draft";

export type Samples =
  | { kind: "pasted"; samples: Pasted[] }
  | { kind: "dataset"; ref: string | null; rows: number[] }
  /** Picked rollouts, or all matching `matching`. */
  | { kind: "run"; run: string | null; rollouts: string[]; matching: Record<string, unknown> | null };

/** Samples of a request; null if only the platform can tell. */
export function sampleCount(chosen: Samples): number | null {
  switch (chosen.kind) {
    case "pasted":
      return chosen.samples.length;
    case "dataset":
      return chosen.ref === null ? 0 : chosen.rows.length;
    case "run":
      if (chosen.run === null) return 0;
      return chosen.matching === null ? chosen.rollouts.length : null;
  }
}

/** The request. `definitions` are refs, or {@link DRAFT} for `draft`; `cluster` null is any. */
export function benchBody(
  definitions: string[],
  draft: Spec,
  chosen: Samples,
  probes: boolean,
  cluster: string | null,
): CreateBenchJobRequest {
  return {
    definitions: definitions.map(one => (one === DRAFT ? { definition: draft, label: DRAFT } : { ref: one })),
    samples: samplesBody(chosen),
    probes,
    ...(cluster === null ? {} : { cluster }),
  };
}

function samplesBody(chosen: Samples): CreateBenchJobRequest["samples"] {
  switch (chosen.kind) {
    case "pasted":
      return chosen.samples.map(toBody);
    case "dataset":
      return { dataset: chosen.ref ?? "", rows: [...chosen.rows].sort((a, b) => a - b), outputs: "reference" };
    case "run":
      return {
        run: chosen.run ?? "",
        ...(chosen.matching === null ? { rollouts: chosen.rollouts } : { matching: chosen.matching }),
      };
  }
}

/** `count` row numbers spread evenly over `size` rows; all of them if there are fewer. */
export function spread(size: number, count: number): number[] {
  if (count >= size) return Array.from({ length: size }, (_, index) => index);
  return Array.from({ length: count }, (_, index) => Math.floor((index * size) / count));
}

/** 4.2 ms, 380 ms, 1.4 s. */
export function formatLatency(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return DASH;
  if (seconds >= 1) return `${formatNumber(seconds, 3)} s`;
  const milliseconds = seconds * 1000;
  return milliseconds < 0.1 ? "< 0.1 ms" : `${formatNumber(milliseconds, milliseconds < 10 ? 2 : 3)} ms`;
}

/** What the sample answers, for a table: its prompt, or the last message. */
export function promptOf(item: Record<string, Json>): string {
  if (typeof item.prompt === "string") return item.prompt;
  const messages = Array.isArray(item.messages) ? item.messages : Array.isArray(item.prompt) ? item.prompt : [];
  const last = messages.at(-1);
  const content = typeof last === "object" && last !== null && !Array.isArray(last) ? last.content : null;
  return typeof content === "string" ? content : "";
}

const PROBES: Record<string, string> = {
  empty: "empty",
  very_long: "very long",
  gold_echoed: "gold echoed",
  prompt_repeated: "prompt repeated",
  format_only: "format only",
};

export function probeName(probe: string): string {
  return PROBES[probe] ?? probe.replaceAll("_", " ");
}

/** "3" of sample `s2`: its place as people count. */
export function sampleNumber(id: string): string {
  const index = Number(id.slice(1));
  return Number.isNaN(index) ? id : String(index + 1);
}

export interface ErrorParts {
  message: string;
  traceback: string | null;
}

/** A score's error in a line, and its traceback, which may be in the error itself. */
export function errorParts(score: Pick<BenchScore, "error" | "traceback">): ErrorParts {
  const error = score.error ?? "";
  const at = error.indexOf(TRACEBACK);
  if (at === -1) return { message: error, traceback: score.traceback };
  const traceback = error.slice(at).trim();
  const head = error.slice(0, at).trim().replace(/:$/, "");
  const last = traceback.split("\n").at(-1)?.trim() ?? "";
  return { message: [head, last].filter(Boolean).join(": "), traceback: score.traceback ?? traceback };
}

const TRACEBACK = "Traceback (most recent call last)";

export interface FlagLine {
  label: string;
  /** Of the probe that earns most. */
  detail: string;
  severity: BenchFlag["severity"];
  /** Rows on which a probe of this kind earns a success. */
  rows: number;
}

/** One line for each kind of probe and definition, warnings first. */
export function flagLines(flags: BenchFlag[]): FlagLine[] {
  const kinds = new Map<string, BenchFlag[]>();
  for (const flag of flags) {
    const key = `${flag.definition}/${flag.probe}`;
    kinds.set(key, [...(kinds.get(key) ?? []), flag]);
  }
  const lines = [...kinds.values()].map(alike => {
    const most = alike.reduce((best, flag) => (flag.reward > best.reward ? flag : best));
    return { label: most.label, detail: most.detail, severity: most.severity, rows: alike.length };
  });
  return [...lines.filter(line => line.severity === "warn"), ...lines.filter(line => line.severity !== "warn")];
}
