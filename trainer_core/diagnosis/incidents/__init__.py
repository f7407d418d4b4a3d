"""Incidents: what is wrong with a run, combined from its guards, alerts, metrics and state."""

from trainer_core.diagnosis.incidents.facts import BEFORE, Failure, KnobTurn, Phase, Sign, Symptoms
from trainer_core.diagnosis.incidents.frames import Frame, Traceback, read_traceback
from trainer_core.diagnosis.incidents.incident import MetricEvidence, Remedy
from trainer_core.diagnosis.incidents.join import Incident, incidents, is_lasting, is_watched
from trainer_core.diagnosis.incidents.worker import duration

__all__ = [
    "BEFORE",
    "Failure",
    "Frame",
    "Incident",
    "KnobTurn",
    "MetricEvidence",
    "Phase",
    "Remedy",
    "Sign",
    "Symptoms",
    "Traceback",
    "duration",
    "incidents",
    "is_lasting",
    "is_watched",
    "read_traceback",
]
