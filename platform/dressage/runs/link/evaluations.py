"""Evaluations that attempts have reported."""

from dressage.runs.facts.selectors import line_of
from dressage.runs.models import Run
from dressage.telemetry.models import Event


def are_told(run: Run, step: int, *, from_parent: bool) -> bool:
    """Whether the weights after ``step``, from which a new attempt starts, have been evaluated.

    An attempt that was lost after its checkpoint may not have reported the evaluation that was due at it.

    Args:
        run: the run.
        step: the step after which the attempt starts.
        from_parent: it starts from the checkpoint of a run that this one continues, if it continues any.
    """
    line = line_of(run)
    attempts = Event.objects.filter(run=run, kind="eval", step=step).values_list("attempt", flat=True)
    if any(line.has(attempt, step) for attempt in attempts):
        return True
    if not (from_parent and run.continues):
        return False
    # What a deleted parent has reported is not known. It is not repeated, as in earlier releases.
    return run.parent is None or are_told(run.parent, step, from_parent=run.parent.origin_step == step)
