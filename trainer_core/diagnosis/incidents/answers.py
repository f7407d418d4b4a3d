"""Answers that are empty."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms
from trainer_core.diagnosis.incidents.family import Family, alerts_of
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_METRICS = ("response_length/mean", "response_length/min", "critic/score/mean")


def _tell(facts: Symptoms, episode: Episode) -> Told:
    advice = (Remedy("View a prompt as the policy saw it.", "samples"),)
    return Told("Answers are empty", episode.signs[0].message, "known", _METRICS, advice)


FAMILY = Family("answers", alerts_of("empty_answers"), _tell, watched=_METRICS)
