"""A run that makes no progress, and processes that died."""

from collections.abc import Sequence

from trainer_core.diagnosis.incidents.facts import Episode, Phase, Sign, Symptoms
from trainer_core.diagnosis.incidents.family import Family, alerts_of, either, named
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_HEARD_S = 30.0
"""Seconds within which a live worker sends a sign of life."""
_MINUTES_S = 120.0
_PARTS = {
    "generate": "engines, or the graders after them, have not finished a group",
    "learn": "the learner has not finished the update, or the engines have not loaded its weights",
    "loading": "models are not loaded yet",
    "evaluate": "engines or graders have not finished a held-out sample",
    "checkpoint": "the checkpoint is not yet written to storage",
}

_FORK = Remedy(
    "If it does not continue by itself, stop it (a hung worker is killed after half a minute) and fork from its last"
    " checkpoint.",
    "roll_back",
)


def duration(seconds: float) -> str:
    """Duration in words: whole minutes from two minutes on, otherwise tens of seconds, so that it does not change
    constantly."""
    return f"{seconds / 60:.0f} minutes" if seconds >= _MINUTES_S else f"{seconds // 10 * 10:.0f} seconds"


def _finds(facts: Symptoms) -> Sequence[Sign]:
    phase = facts.phase
    if phase is None:
        return ()
    message = f"No progress for {duration(phase.silent_s)} in the phase {phase.name}."
    return (Sign("state", "stuck", "error", facts.step, None, message),)


def _tell_stuck(facts: Symptoms, episode: Episode) -> Told:
    phase = facts.phase
    title, metrics = "The run is stuck", ("timing_s/step", "timing_s/wait")
    if phase is None:
        return Told(title, episode.signs[0].message, "unknown", metrics, (_FORK,))
    if phase.heard_s is None or phase.heard_s > _HEARD_S:
        why = (
            f"Its worker has not reported for {phase.heard_s or phase.silent_s:.0f} s: the process, its node or the"
            " network is down. A new attempt starts automatically when the lease expires."
        )
        return Told(title, why, "known", metrics, (_FORK,))
    return Told(title, _waits(phase), "likely" if phase.name in _PARTS else "unknown", metrics, (_FORK,))


def _waits(phase: Phase) -> str:
    usual = "" if phase.usual_s is None else f", which ends within {phase.usual_s:.0f} s in 95 % of steps"
    where = f"in the phase {phase.name}{usual}"
    done = f"{phase.done} of {phase.total} are done" if phase.total else "it has no progress count"
    part = _PARTS.get(phase.name)
    if part is None:
        return f"Its worker reports, and is {where}; {done}. What it waits for is unknown: check its log."
    return f"Its worker reports, and is {where}; {done}. Probably {part}."


def _tell_died(facts: Symptoms, episode: Episode) -> Told:
    if (lost := episode.message("attempts lost")) is not None:
        return Told("Attempts are lost in a row", lost, "unknown", ("perf/learner_memory_max", "perf/kv_usage"))
    why = f"{episode.signs[0].message} The log of its node shows why it died."
    return Told("A process of the run died", why, "unknown", ("perf/learner_memory_max", "perf/kv_usage"))


STUCK = Family("stuck", lambda sign: False, _tell_stuck, _finds, ("timing_s/step", "timing_s/wait"))
DIED = Family(
    "restart",
    either(alerts_of("process_died"), named("attempts lost")),
    _tell_died,
    watched=("perf/learner_memory_max", "perf/kv_usage"),
)
