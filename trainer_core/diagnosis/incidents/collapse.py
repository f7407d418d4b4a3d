"""A policy that has collapsed: its reward and its held-out reward have both fallen far below those at its start."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms, change_words, changed_before
from trainer_core.diagnosis.incidents.family import Family, named
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_METRICS = ("critic/score/mean", "actor/grad_norm", "actor/entropy", "rollout_corr/kl")
_ADVICE = (
    Remedy("Fork from a checkpoint before it began, with a lower learning rate.", "roll_back"),
    Remedy("View the samples of that step.", "samples"),
)


def _tell(facts: Symptoms, episode: Episode) -> Told:
    change = changed_before(facts, episode.since, ("optimizer.", "loss.", "kl.", "reward."))
    said = episode.signs[-1].message
    if change is not None:
        return Told("The policy has collapsed", f"{said} {change_words(change)}", "likely", _METRICS, _ADVICE)
    return Told("The policy has collapsed", said, "known", _METRICS, _ADVICE)


FAMILY = Family("collapse", named("collapse"), _tell, watched=_METRICS)
