/** The x axes that can be chosen. */
import type { Run, XAxis } from "@/api/model";
import { AXIS_NAMES } from "./options";

export interface AxisChoice {
  value: XAxis;
  label: string;
  disabled: boolean;
  /** What it counts, or why it cannot be chosen. */
  hint: string;
}

const SIMPLE: Partial<Record<XAxis, string>> = {
  step: "Optimizer steps",
  time: "Time since each run’s start",
  tokens: "Tokens trained on",
};

/** Axes whose values only the platform knows: live points are fetched, not taken from the stream. */
export function isCostAxis(x: XAxis): boolean {
  return x === "cost" || x === "gpu_hours";
}

/** For one run or overlaid runs. Cost if there is a price, else GPU hours. */
export function axisChoices(runs: Pick<Run, "cost">[], chosen: XAxis): AxisChoice[] {
  const costs = runs.flatMap(({ cost }) => (cost ? [cost] : []));
  const currency = costs.find(cost => cost.price !== null)?.currency ?? null;
  const spent: XAxis = currency === null ? "gpu_hours" : "cost";
  const held = costs.some(cost => cost.gpu_hours > 0);
  const none = runs.length > 1 ? "None of these runs used a GPU" : "This run used no GPU";
  const counts = currency === null ? "GPU hours" : `Price of the GPU hours, in ${currency},`;
  return [
    ...Object.entries(SIMPLE).map(([value, hint]) => ({
      value: value as XAxis,
      label: AXIS_NAMES[value as XAxis],
      disabled: false,
      hint,
    })),
    {
      value: isCostAxis(chosen) ? chosen : spent,
      label: currency !== null && chosen !== "gpu_hours" ? `${AXIS_NAMES.cost}, ${currency}` : AXIS_NAMES.gpu_hours,
      disabled: !held && !isCostAxis(chosen),
      hint: held ? `${counts} of all attempts so far, including pauses and repeated steps` : none,
    },
  ];
}
