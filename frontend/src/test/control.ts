import type { Control } from "@/api/model";

/** A control that is in effect, with `changes`. */
export function aControl(changes: Partial<Control> = {}): Control {
  return {
    id: "ctl_1",
    revision: 3,
    change_set: null,
    target: "kl.coefficient",
    boundary: "optimizer_step",
    before: 0.1,
    value: null,
    state: "applied",
    apply_at: "next",
    ramp_steps: null,
    reason: "",
    actor: "ann@example.com",
    created_at: "2026-11-21T06:00:00.000Z",
    reverts: null,
    checkpoint: null,
    applied_step: 4,
    applied_group: null,
    settled_step: null,
    error: null,
    ...changes,
  };
}
