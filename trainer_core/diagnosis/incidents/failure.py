"""A run that has failed."""

from collections.abc import Sequence

from trainer_core.diagnosis.incidents.facts import Episode, Sign, Symptoms
from trainer_core.diagnosis.incidents.family import Family
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_MEMORY = ("out of memory", "outofmemory", "cannot allocate memory")
_NOT_FINITE = "the loss or its gradient is not finite"
"""Words of every refused update; see ``trainer_core.update.learner``."""
_UPDATE = ("critic/score/max", "critic/score/mean", "actor/grad_norm")
_METRICS = ("perf/learner_memory_max", "perf/kv_usage")


def _finds(facts: Symptoms) -> Sequence[Sign]:
    if facts.failure is None:
        return ()
    return (Sign("state", "failed", "error", facts.failure.step, None, facts.failure.reason),)


def _tell(facts: Symptoms, episode: Episode) -> Told:
    reason = episode.signs[0].message or "It ended without a reason."
    resume = Remedy("Resume: it continues from its last checkpoint, or starts over if it has none.", "resume")
    if any(word in reason.lower() for word in _MEMORY):
        advice = (Remedy("Fork with shorter completions or smaller micro-batches: see docs/memory.md.", "roll_back"),)
        return Told("The run has failed: out of memory", reason, "known", _METRICS, (*advice, resume))
    if "has a prompt of" in reason and "a prompt may have" in reason:
        why = f"{reason} Prompts that do not fit are never skipped."
        advice = (Remedy("Fork with a larger rollout.engine.max_model_len, or without those rows.", "roll_back"),)
        return Told("The run has failed: a prompt is too long", why, "known", (), advice)
    if _NOT_FINITE in reason:
        why = f"{reason} Resuming would compute the same update from the same checkpoint."
        samples = Remedy("View the samples of the step, the largest reward first.", "samples")
        fork = Remedy("Fork from a checkpoint with a bounded reward, or with a lower learning rate.", "roll_back")
        return Told("The run has failed: an update is not finite", why, "known", _UPDATE, (samples, fork))
    return Told("The run has failed", reason, "known" if episode.signs[0].message else "unknown", _METRICS, (resume,))


FAMILY = Family("failure", lambda sign: False, _tell, _finds, _METRICS)
