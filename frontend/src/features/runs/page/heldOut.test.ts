import { expect, it } from "vitest";
import type { Checkpoint, MetricName, Metrics } from "@/api/model";
import { heldOut } from "./heldOut";

const METRICS = ["actor/lr", "eval/maths/score/mean", "eval/maths/score/low"].map(name => ({ name }) as MetricName);
const series = (x: number[], mean: (number | null)[]) => ({ x, mean }) as Metrics["series"][string];
const FOUND = {
  x: "step",
  series: {
    "eval/maths/score/mean": series([10, 20, 30], [0.25, 0.75, null]),
    "eval/maths/score/low": series([20], [0.5]),
  },
} as unknown as Metrics;
const row = (id: string, step: number, available = true) => ({ id, step, available }) as Checkpoint;

it("calls the lowest held-out loss the best, and takes the accuracy of pairs", () => {
  const names = ["eval/chats/loss", "eval/chats/loss/last", "eval/pairs/loss", "eval/pairs/preference_accuracy"];
  const metrics = names.map(name => ({ name }) as MetricName);
  const found = {
    x: "step",
    series: {
      "eval/chats/loss": series([10, 20], [1.5, 2]),
      "eval/pairs/preference_accuracy": series([10, 20], [0.5, 0.75]),
    },
  } as unknown as Metrics;
  const rows = [row("early", 10), row("late", 20)];
  const { sources, best } = heldOut(metrics, found, rows);
  expect(sources).toEqual(["chats", "pairs"]);
  expect(sources.map(best)).toEqual(["early", "late"]);
});

it("tells what was last measured of the weights of a checkpoint, and nothing from later", () => {
  const { sources, of } = heldOut(METRICS, FOUND, []);
  expect(sources).toEqual(["maths"]);
  expect(of(row("a", 9), "maths")).toBeNull();
  expect(of(row("b", 12), "maths")).toMatchObject({ step: 10, value: 0.25, low: null });
  expect(of(row("c", 30), "maths")).toMatchObject({ step: 20, value: 0.75, low: 0.5 });
});

it("calls that one the best which is there and has the highest result", () => {
  const rows = [row("early", 10), row("late", 20), row("gone", 21, false)];
  expect(heldOut(METRICS, FOUND, rows).best("maths")).toBe("late");
  expect(heldOut(METRICS, FOUND, [row("early", 10), row("gone", 20, false)]).best("maths")).toBeNull();
  expect(heldOut(METRICS, undefined, rows).best("maths")).toBeNull();
});
