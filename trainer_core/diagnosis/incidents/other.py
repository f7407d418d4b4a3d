"""Objections of guards that no other family covers."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms
from trainer_core.diagnosis.incidents.family import Family
from trainer_core.diagnosis.incidents.incident import Told


def _tell(facts: Symptoms, episode: Episode) -> Told:
    first = episode.signs[0]
    why = f"{first.message.rstrip('.')}. The cause is unknown: its chart and earlier changes may show it."
    return Told(f"{first.name}: a guard is violated", why, "unknown", () if first.metric is None else (first.metric,))


FAMILY = Family("guard", lambda sign: sign.source == "guard", _tell)
