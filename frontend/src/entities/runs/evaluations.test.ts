import { expect, it } from "vitest";
import type { MetricName, Metrics } from "@/api/model";
import { bestRun, evaluationKeys, evaluationRows } from "./evaluations";

const metric = (name: string, title = name): MetricName => ({ name, title, formula: "", unit: "" }) as MetricName;
const found = (series: Record<string, [number[], (number | null)[]]>): Metrics => ({
  x: "step",
  series: Object.fromEntries(
    Object.entries(series).map(([name, [x, mean]]) => [
      name,
      { x, mean: mean as number[], min: mean as number[], max: mean as number[], raw_count: x.length, nan: [] },
    ]),
  ),
});

const SCORE = "eval/maths/score/mean";
const METRICS = [
  metric("actor/lr"),
  metric("eval/maths/score/high"),
  metric("eval/maths/score/low"),
  metric(SCORE, "Held-out score"),
];

it("reads results and the ends of their intervals, and nothing of training", () => {
  expect(evaluationKeys(METRICS)).toEqual(["eval/maths/score/high", "eval/maths/score/low", SCORE]);
});

it("tells the newest and the best of each run with their intervals", () => {
  const first = found({
    [SCORE]: [
      [10, 20, 30],
      [0.2, 0.6, 0.5],
    ],
    "eval/maths/score/low": [[30], [0.4]],
    "eval/maths/score/high": [[30], [0.6]],
  });
  const [row, ...others] = evaluationRows(METRICS, [first, undefined, found({})]);
  expect(others).toEqual([]);
  expect(row).toMatchObject({ metric: SCORE, source: "maths", title: "Held-out score", isMoreBetter: true });
  expect(row?.runs).toEqual([
    {
      last: { step: 30, value: 0.5, low: 0.4, high: 0.6 },
      best: { step: 20, value: 0.6, low: null, high: null },
    },
    null,
    null,
  ]);
});

it("passes over what was no number, and has no row where no run has a result", () => {
  const [row] = evaluationRows(METRICS, [
    found({
      [SCORE]: [
        [1, 2],
        [0.3, null],
      ],
    }),
  ]);
  expect(row?.runs[0]?.last).toMatchObject({ step: 1, value: 0.3 });
  expect(evaluationRows(METRICS, [found({ [SCORE]: [[1], [null]] })])).toEqual([]);
});

it("names k of pass@k, and takes a source with slashes whole", () => {
  const name = "eval/team/maths/pass_at/8/mean";
  const [row] = evaluationRows([metric(name, "Held-out pass@k")], [found({ [name]: [[1], [0.5]] })]);
  expect(row).toMatchObject({ source: "team/maths", title: "Held-out pass@8" });
});

it("marks the best of the newest results, unless they are equal or neither direction is better", () => {
  const of = (name: string, ...values: number[]) =>
    evaluationRows(
      [metric(name)],
      values.map(value => found({ [name]: [[1], [value]] })),
    )[0] as never;
  expect(bestRun(of(SCORE, 0.2, 0.4, 0.3))).toBe(1);
  expect(bestRun(of(SCORE, 0.4, 0.4))).toBeNull();
  expect(bestRun(of("eval/maths/response_length/mean", 10, 20))).toBeNull();
});

it("calls the lowest held-out loss the best, and has no row for its parts", () => {
  const loss = "eval/chats/loss";
  const metrics = [metric(loss, "Held-out loss"), metric("eval/chats/loss/last")];
  const ran = (...values: number[]) => found({ [loss]: [values.map((_, at) => at), values] });
  const [row, ...others] = evaluationRows(metrics, [ran(2, 1, 1.5), ran(1.25)]);
  expect(others).toEqual([]);
  expect(row).toMatchObject({ source: "chats", isMoreBetter: false });
  expect(row?.runs[0]?.best).toMatchObject({ step: 1, value: 1 });
  expect(row && bestRun(row)).toBe(1);
});

it("calls the highest accuracy of held-out pairs the best", () => {
  const name = "eval/pairs/preference_accuracy";
  const [row] = evaluationRows([metric(name)], [found({ [name]: [[1], [0.5]] }), found({ [name]: [[1], [0.75]] })]);
  expect(row && bestRun(row)).toBe(1);
});
