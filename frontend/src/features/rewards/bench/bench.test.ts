import { describe, expect, it } from "vitest";
import type { BenchFlag, BenchJob, BenchScore } from "@/api/model";
import {
  benchBody,
  benchRows,
  counts,
  DRAFT,
  errorParts,
  flagLines,
  formatLatency,
  promptOf,
  sampleCount,
  type Samples,
  shownRows,
  spread,
} from "./bench";

const score = (reward: number | null, more: Partial<BenchScore> = {}): BenchScore =>
  ({
    reward,
    success: reward === null ? null : reward >= 0.5,
    parts: {},
    error: null,
    traceback: null,
    seconds: 0.001,
    forgiven: [],
    ...more,
  }) as BenchScore;

const JOB = {
  definitions: [{ label: "math@1" }, { label: "draft" }],
  samples: ["s0", "s1", "s2", "probe0"].map(id => ({ id, probe: id.startsWith("probe") ? "empty" : null, item: {} })),
  results: [
    [score(1), score(0), score(null, { error: "the grader failed" }), score(0)],
    [score(0.25), score(1), score(1), score(0.9)],
  ],
  flips: [
    { sample: "s0", before: true, after: false, reward_before: 1, reward_after: 0.25 },
    { sample: "s1", before: false, after: true, reward_before: 0, reward_after: 1 },
    { sample: "s2", before: null, after: true, reward_before: null, reward_after: 1 },
  ],
  flags: [
    { sample: "probe0", definition: 1, label: "draft", probe: "empty", reward: 0.9, severity: "warn", detail: "!" },
  ],
} as unknown as BenchJob;

describe("rows of a job", () => {
  it("join samples, scores, flips and flags", () => {
    const rows = benchRows(JOB);
    expect(rows.map(row => row.flip)).toEqual(["lost", "gained", "unclear", null]);
    expect(rows.map(row => row.change)).toEqual([-0.75, 1, null, 0.9]);
    expect(rows.map(row => row.flags.length)).toEqual([0, 0, 0, 1]);
  });

  it("are counted and filtered by what is worth looking at", () => {
    const rows = benchRows(JOB);
    expect(counts(rows)).toEqual({ all: 4, flips: 3, errors: 1, probes: 1, flagged: 1 });
    expect(shownRows(rows, "errors").map(row => row.sample.id)).toEqual(["s2"]);
  });

  it("count a forgiven part among the errors", () => {
    const job = { ...JOB, results: [[score(0, { forgiven: ["style"] })], [score(0)]], flips: [], flags: [] };
    expect(counts(benchRows({ ...job, samples: JOB.samples.slice(0, 1) } as BenchJob)).errors).toBe(1);
  });

  it("have no scores before the results are there", () => {
    const rows = benchRows({ ...JOB, results: null, flips: [], flags: [] });
    expect(rows.every(row => row.scores.every(one => one === null) && row.change === null)).toBe(true);
  });
});

describe("the request", () => {
  it("names versions by ref and sends the draft itself", () => {
    const draft = { components: [] };
    const chosen = { kind: "dataset", ref: "gsm8k@1", rows: [7, 2] } as const;
    expect(benchBody(["math@1", DRAFT], draft, { ...chosen, rows: [7, 2] }, true, null)).toEqual({
      definitions: [{ ref: "math@1" }, { definition: draft, label: "draft" }],
      samples: { dataset: "gsm8k@1", rows: [2, 7], outputs: "reference" },
      probes: true,
    });
  });

  it("names stored rollouts by run and id", () => {
    const picked = { kind: "run", run: "run_1", rollouts: ["31", "4"], matching: null } as const;
    const body = benchBody(["math@1"], {}, { ...picked, rollouts: ["31", "4"] }, false, "far");
    expect(body.samples).toEqual({ run: "run_1", rollouts: ["31", "4"] });
    expect(body.cluster).toBe("far");
  });

  it("names a filter instead, whose samples only the platform can count", () => {
    const all: Samples = { kind: "run", run: "run_1", rollouts: [], matching: { dead: true } };
    expect(benchBody(["math@1"], {}, all, false, null).samples).toEqual({ run: "run_1", matching: { dead: true } });
    expect(sampleCount(all)).toBeNull();
    expect(sampleCount({ ...all, run: null })).toBe(0);
  });
});

it("spreads rows evenly and never past the end", () => {
  expect(spread(5, 20)).toEqual([0, 1, 2, 3, 4]);
  expect(spread(100, 4)).toEqual([0, 25, 50, 75]);
});

it("writes latencies as people read them", () => {
  expect([0.00002, 0.0042, 0.38, 1.4, null].map(formatLatency)).toEqual(["< 0.1 ms", "4.2 ms", "380 ms", "1.4 s", "–"]);
});

it("finds the prompt of a row, chat or plain", () => {
  expect(promptOf({ prompt: "1+1=" })).toBe("1+1=");
  expect(
    promptOf({
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: "hi" },
      ],
    }),
  ).toBe("hi");
  expect(promptOf({ question: "?" })).toBe("");
});

it("says in a line what failed and keeps the traceback for those who ask", () => {
  const error = "short: the grader failed\nTraceback (most recent call last):\n  line 3\nValueError: no such unit";
  expect(errorParts({ error, traceback: null })).toEqual({
    message: "short: the grader failed: ValueError: no such unit",
    traceback: "Traceback (most recent call last):\n  line 3\nValueError: no such unit",
  });
  expect(errorParts({ error: "no judge", traceback: "T" })).toEqual({ message: "no judge", traceback: "T" });
});

it("says once what is flagged on several rows, the highest reward of each, warnings first", () => {
  const flag = (probe: string, reward: number, severity = "warn", definition = 0) =>
    ({ probe, reward, severity, definition, label: "d", detail: `${probe} ${reward}` }) as BenchFlag;
  const lines = flagLines([
    flag("gold_echoed", 1, "info"),
    flag("empty", 0.6),
    flag("empty", 0.9),
    flag("empty", 1, "warn", 1),
  ]);
  expect(lines.map(line => [line.detail, line.rows])).toEqual([
    ["empty 0.9", 2],
    ["empty 1", 1],
    ["gold_echoed 1", 1],
  ]);
});
