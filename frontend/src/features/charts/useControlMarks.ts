/** Places applied controls on the x axis that is shown. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Control, XAxis } from "@/api/model";
import { marked } from "@/features/controls/model";
import { EVERY_STEP, placesOf } from "@/entities/runs/lineage";
import { metricsQuery } from "@/entities/runs/queries";
import { interpolate } from "@/lib/interpolate";
import { byChange, type ControlMark } from "./marks";

export function useControlMarks(runId: string, controls: Control[], x: XAxis): ControlMark[] {
  const translate = x !== "step";
  const bySteps = useQuery({ ...metricsQuery(runId, EVERY_STEP, { x: "step" }), enabled: translate });
  const byAxis = useQuery({ ...metricsQuery(runId, EVERY_STEP, { x }), enabled: translate });
  return useMemo(() => {
    const steps = placesOf(bySteps.data);
    const axis = placesOf(byAxis.data);
    const place = (step: number) => (translate ? interpolate(steps, axis, step) : step);
    return byChange(marked(controls)).flatMap(change => {
      const begun = place(Math.min(...change.map(one => one.applied_step as number)));
      const settled = change.map(one => one.settled_step);
      const until = settled.some(step => step === null) ? null : place(Math.max(...(settled as number[])));
      const id = change[0]?.change_set ?? change[0]?.id ?? "";
      return begun === null ? [] : [{ id, x: begun, until, controls: change }];
    });
  }, [controls, translate, bySteps.data, byAxis.data]);
}
