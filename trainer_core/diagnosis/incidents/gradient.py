"""Gradients far above their usual level."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms, change_words, changed_before
from trainer_core.diagnosis.incidents.family import Family, guards_on
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_METRICS = ("actor/grad_norm", "rollout_corr/k3_kl", "rollout_corr/rollout_is_max", "actor/pg_clipfrac")
_TARGETS = ("optimizer.", "loss.", "kl.", "corrections.", "reward.definition", "data.")


def _tell(facts: Symptoms, episode: Episode) -> Told:
    title = "The gradient is far above its usual size"
    advice = (
        Remedy("Lower the gradient norm limit.", "control", "optimizer.max_grad_norm"),
        Remedy("Lower the learning rate.", "control", "optimizer.learning_rate"),
        Remedy("Rewind to a checkpoint before it began.", "roll_back"),
    )
    change = changed_before(facts, episode.since, _TARGETS)
    if change is not None:
        return Told(title, change_words(change), "likely", _METRICS, advice)
    before = facts.usual("rollout_corr/k3_kl", episode.since)
    now = facts.lately("rollout_corr/k3_kl", episode.since, episode.until)
    if before is not None and now is not None and now > 3 * before:
        why = "Engine and learner also disagree more than before: probably a few tokens with large weights cause it."
        return Told(title, why, "likely", _METRICS, (Remedy("View those tokens.", "tokens"), *advice))
    mismatch = "" if now is None else " and the mismatch is as usual"
    why = f"No field was changed shortly before{mismatch}: the metrics do not show the cause."
    return Told(title, why, "unknown", _METRICS, advice)


FAMILY = Family("gradient", guards_on("actor/grad_norm"), _tell, watched=_METRICS)
