/** A draft from its first edit until it is sent or discarded, with the conflicting changes of others. */
import { useEffect, useState } from "react";
import type { Control, Json, Run, Target } from "@/api/model";
import {
  advanced,
  type Draft,
  edited,
  isTouched,
  meanwhile,
  NO_DRAFT,
  pendingChanges,
  repinned,
  seenRevision,
  withoutTheirs,
} from "./conflict";
import { keepDraft, keptDraft } from "./keptDrafts";
import { conflictOf, shownValue } from "./model";
import { useOwnChanges } from "./ownChanges";
import { NOW, whenOf } from "./schedule";
import { useIsSteering, useSteer } from "./useSteer";

/** @param knob names the draft among those of the run: it outlives the page until it is sent or dropped. */
export function useDraft(run: Run, knob: string, targets: Target[], controls: Control[]) {
  const [kept] = useState(() => keptDraft(run.id, knob));
  const [draft, setDraft] = useState<Draft>(kept?.draft ?? NO_DRAFT);
  const [reason, setReason] = useState(kept?.reason ?? "");
  const [schedule, setSchedule] = useState(kept?.schedule ?? NOW);
  const steer = useSteer(run.id);
  const own = useOwnChanges(run.id);
  const pending = pendingChanges(draft, targets, controls);
  const steering = useIsSteering(run.id);
  const others = pending.length > 0 && !steering ? meanwhile(draft, controls, own) : [];
  const isDrafted = pending.length > 0;
  useEffect(() => {
    keepDraft(run.id, knob, isDrafted ? { draft, reason, schedule } : null);
  }, [run.id, knob, isDrafted, draft, reason, schedule]);
  const reset = () => {
    setDraft(NO_DRAFT);
    setReason("");
    setSchedule(NOW);
    steer.reset();
  };
  const send = (from: Draft) => {
    setDraft(from);
    const revision = advanced(from.pinned ?? seenRevision(controls), own);
    steer.mutate(
      { changes: pending, reason: reason.trim(), revision, when: whenOf(schedule) },
      {
        onSuccess: reset,
        onError: error => {
          const told = conflictOf(error);
          if (told.length > 0) setDraft(known => ({ ...known, told }));
        },
      },
    );
  };
  return {
    pending,
    others,
    reason,
    setReason,
    schedule,
    setSchedule,
    /** Whether it was started before the page was opened. */
    isKept: isDrafted && kept !== null && draft.pinned === kept.draft.pinned,
    reset,
    sending: steer.isPending,
    /** Of the last try, but for what `others` says better. */
    error: others.length > 0 ? null : steer.error,
    value: (path: string): Json =>
      isTouched(draft, path) ? (draft.values[path] ?? null) : shownValue(targets, controls, path),
    set: (path: string, value: Json) =>
      setDraft(known => edited(known, path, value, shownValue(targets, controls, path), seenRevision(controls))),
    /** Sends what was drafted over the revision that was seen at the first edit. */
    apply: () => send(draft),
    /** Sends it over the changes that others made in the meantime, all of which are shown. */
    applyOver: () => send(repinned(draft, others)),
    takeTheirs: () => {
      const rest = withoutTheirs(draft, others);
      if (rest === NO_DRAFT) return reset();
      steer.reset();
      setDraft(rest);
    },
  };
}
