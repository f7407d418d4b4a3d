import * as api from "@/api/client";
import type { Control, Json } from "@/api/model";
import type { When } from "./schedule";

export interface Change {
  target: string;
  value: Json;
}

const AT_ONCE: When = { apply_at: "next", ramp_steps: null };

/**
 * Stages changes, several of them as one: all or none.
 *
 * @param revision The newest revision that the person has seen.
 * @returns A control for each change, in their order.
 */
export async function stage(
  runId: string,
  changes: Change[],
  reason: string,
  revision: number,
  { apply_at, ramp_steps }: When = AT_ONCE,
): Promise<Control[]> {
  const [only, ...others] = changes;
  const body = { reason, apply_at, ...(ramp_steps === null ? {} : { ramp_steps }) };
  const staged = await api.stageControl(
    runId,
    only && others.length === 0 ? { ...body, ...only } : { ...body, changes },
    { "If-Match": `"${revision}"` },
  );
  return "data" in staged ? staged.data : [staged];
}
