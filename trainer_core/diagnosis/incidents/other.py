"""Objections of guards that no other family covers."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms
from trainer_core.diagnosis.incidents.family import Family
from trainer_core.diagnosis.incidents.incident import Told


def _tell(facts: Symptoms, episode: Episode) -> Told:
    first = episode.signs[0]
    why = (
        f"{first.message.rstrip('.')}. What moves this metric is not known: its chart and the changes before may tell."
    )
    return Told(f"{first.name}: a guard objects", why, "unknown", () if first.metric is None else (first.metric,))


FAMILY = Family("guard", lambda sign: sign.source == "guard", _tell)
