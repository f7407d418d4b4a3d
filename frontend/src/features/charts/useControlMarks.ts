/** Places applied controls on the x axis that is shown. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Control, XAxis } from "@/api/model";
import { marked } from "@/features/controls/model";
import { EVERY_STEP } from "@/features/runs/data/lineage";
import { metricsQuery } from "@/features/runs/data/queries";
import { interpolate } from "@/lib/interpolate";
import type { ControlMark } from "./ControlMarks";

export function useControlMarks(runId: string, controls: Control[], x: XAxis): ControlMark[] {
  const translate = x !== "step";
  const bySteps = useQuery({ ...metricsQuery(runId, [EVERY_STEP], { x: "step" }), enabled: translate });
  const byAxis = useQuery({ ...metricsQuery(runId, [EVERY_STEP], { x }), enabled: translate });
  return useMemo(() => {
    const steps = bySteps.data?.series[EVERY_STEP]?.x ?? [];
    const axis = byAxis.data?.series[EVERY_STEP]?.x ?? [];
    return marked(controls).flatMap(control => {
      const step = control.applied_step as number;
      const position = translate ? interpolate(steps, axis, step) : step;
      return position === null ? [] : [{ id: control.id, x: position, control }];
    });
  }, [controls, translate, bySteps.data, byAxis.data]);
}
