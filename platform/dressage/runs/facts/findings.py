"""Findings: what guards of a run object to now. They stand on the run's row, whose lock the caller holds.

A finding lasts from the step at which its guard acts to the one at which it is calm; what was done about it stands
beside it. Events tell of both.
"""

from typing import Literal, cast

from typing_extensions import TypedDict

from dressage.common.actors import Actor
from dressage.runs.models import Run
from dressage.teams.services import record_audit
from trainer_core.link.events import AlertData, GuardNews

Action = Literal["alert", "pause", "change", "roll_back"]
MOST = 100
"""Findings that a run keeps; a run has fewer guards than that."""


class OutcomeDocument(TypedDict):
    """What came of a guard's action."""

    control: str | None
    """Id of the newest control that it has made."""
    run: str | None
    """Id of the run that goes on from before it."""
    refused: str | None
    """Reason why it could not be done."""


class FindingDocument(TypedDict):
    """What a guard objects to, or that a run is stuck."""

    guard: str
    """Name of the guard, or its metric's; ``stuck`` for a run that does not move."""
    metric: str | None
    severity: Literal["warn", "error"]
    since: int
    """Step of the first objection."""
    step: int | None
    """Step at which the guard acted last."""
    message: str
    """Sentence with the value and the threshold."""
    action: Action
    outcome: OutcomeDocument | None
    """Null while nothing is to be done, or nothing was done yet."""


def findings_of(run: Run) -> list[FindingDocument]:
    """The run's findings, the oldest first."""
    return cast("list[FindingDocument]", run.findings or [])


def guard_actor(guard: str) -> Actor:
    """The actor of what a guard does."""
    return Actor("guard", guard[:120], guard)


def note(run: Run, step: int, alert: AlertData, news: GuardNews) -> FindingDocument | None:
    """Take over what a guard has done. Returns the finding while it objects. The caller saves the run."""
    others = [one for one in findings_of(run) if one["guard"] != news.guard]
    before = next((one for one in findings_of(run) if one["guard"] == news.guard), None)
    if news.state == "calm":
        run.findings = others
        return None
    action = cast("Action", news.action if news.action in ("pause", "change", "roll_back") else "alert")
    found: FindingDocument = {
        "guard": news.guard,
        "metric": alert.metric,
        "severity": news.severity,
        "since": news.since,
        "step": step,
        "message": alert.message,
        "action": action,
        "outcome": before["outcome"] if before is not None and news.state == "repeats" else None,
    }
    run.findings = [*others, found][-MOST:]
    if action in ("pause", "roll_back"):
        facts = {"guard": news.guard, "metric": alert.metric, "step": step}
        record_audit(run.team, guard_actor(news.guard), "run.pause", "run", run.id, after=facts, reason=alert.message)
    return found


def set_outcome(
    run: Run, guard: str, *, control: str | None = None, child: str | None = None, refused: str | None = None
) -> None:
    """Write down what came of a guard's action, if it still objects."""
    outcome = OutcomeDocument(control=control, run=child, refused=refused)
    run.findings = [{**one, "outcome": outcome} if one["guard"] == guard else one for one in findings_of(run)]
    run.save(update_fields=["findings", "updated_at"])


def forget_after(run: Run, step: int) -> None:
    """A new attempt goes on from ``step``: what was found later has not happened."""
    run.findings = [one for one in findings_of(run) if one["since"] <= step]
    run.save(update_fields=["findings", "updated_at"])


def paused_by(run: Run, reason: str) -> FindingDocument | None:
    """The finding for which the run paused itself."""
    return next((one for one in findings_of(run) if one["action"] != "alert" and one["message"] == reason), None)
