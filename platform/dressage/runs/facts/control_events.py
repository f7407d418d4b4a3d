"""The event that reports a control, with its whole document."""

from dressage.runs.facts.documents import control_document
from dressage.runs.models import Control, Run
from dressage.telemetry.events import append_event


def record_control_event(run: Run, control: Control, step: int | None = None) -> None:
    """Record that a control has changed: an event with its whole document."""
    append_event(run, "control", {"control": control_document(control)}, step=step)
