/** How far each run's points are moved, so that children lie on the axis of their parents among the runs. */
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Run, XAxis } from "@/api/model";
import { originOf, shiftQuery } from "@/entities/runs/lineage";

/** One number per run, in their order; 0 where a run's parent is not among them, or where `isOn` says no. */
export function useShifts(runs: Run[], x: XAxis, isOn: boolean): number[] {
  const children = runs.flatMap(run => {
    const origin = isOn ? originOf(run) : null;
    return origin && runs.some(one => one.id === origin.run) ? [{ id: run.id, origin }] : [];
  });
  const told = useQueries({
    queries: children.map(({ origin }) => shiftQuery(origin, x)),
    combine: found => found.map(one => one.data ?? 0).join(","),
  });
  const links = children.map(({ id, origin }) => `${id}<${origin.run}`).join(",");
  const ids = runs.map(run => run.id).join(",");
  return useMemo(() => summed(ids.split(","), parse(links, told)), [ids, links, told]);
}

interface Step {
  parent: string;
  by: number;
}

function parse(links: string, told: string): Map<string, Step> {
  if (!links) return new Map();
  const numbers = told.split(",").map(Number);
  return new Map(
    links.split(",").map((link, place) => {
      const [id, parent] = link.split("<") as [string, string];
      return [id, { parent, by: numbers[place] ?? 0 }];
    }),
  );
}

/** Along the line of parents: a child of a child is moved by both. A run is never its own ancestor. */
export function summed(ids: string[], steps: Map<string, Step>): number[] {
  const by = (id: string): number => {
    const step = steps.get(id);
    return step ? step.by + by(step.parent) : 0;
  };
  return ids.map(by);
}
