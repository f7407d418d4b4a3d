"""Checkpoints that cannot be written."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms
from trainer_core.diagnosis.incidents.family import Family, alerts_of, either, guards_on
from trainer_core.diagnosis.incidents.incident import Remedy, Told


def _tell(facts: Symptoms, episode: Episode) -> Told:
    advice = (Remedy("Free space on the storage of DRESSAGE_HOME, or give its worker write permission."),)
    return Told(
        "A checkpoint could not be written", episode.signs[-1].message, "known", ("checkpoint/failures",), advice
    )


FAMILY = Family(
    "not_saved",
    either(alerts_of("not_saved"), guards_on("checkpoint/")),
    _tell,
    watched=("checkpoint/failures",),
)
