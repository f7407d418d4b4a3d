"""Findings: current objections of a run's guards. They are stored in the run's row, whose lock the caller holds.

A finding lasts from the step at which its guard acts to the step at which the guard is calm again. The finding also
holds the outcome of the guard's action. Events report both.
"""

from typing import Literal, cast

from typing_extensions import TypedDict

from dressage.common.actors import Actor
from dressage.runs.models import Run
from dressage.teams.services import record_audit
from trainer_core.link.events import AlertData, GuardNews

Action = Literal["alert", "pause", "change", "roll_back"]
LOST = "attempts lost"
"""Name of the finding that attempts were lost in a row."""
MOST = 100
"""Maximum number of findings of a run; a run has fewer guards than that."""


class OutcomeDocument(TypedDict):
    """Outcome of a guard's action."""

    control: str | None
    """Id of the newest control that it has created."""
    run: str | None
    """Id of the run that continues from before the objection."""
    refused: str | None
    """Reason the action could not be carried out."""


class FindingDocument(TypedDict):
    """An objection of a guard, or the finding that a run is stuck."""

    guard: str
    """Name of the guard, or of its metric; ``stuck`` for a run that makes no progress."""
    metric: str | None
    severity: Literal["warn", "error"]
    since: int
    """Step of the first objection."""
    step: int | None
    """Step of the guard's latest action."""
    message: str
    """Sentence with the value and the threshold."""
    action: Action
    outcome: OutcomeDocument | None
    """Null if there is nothing to do, or nothing has been done yet."""


def findings_of(run: Run) -> list[FindingDocument]:
    """The run's findings, oldest first."""
    return cast("list[FindingDocument]", run.findings or [])


def guard_actor(guard: str) -> Actor:
    """The actor to record for a guard's actions."""
    return Actor("guard", guard[:120], guard)


def note(run: Run, step: int, alert: AlertData, news: GuardNews) -> FindingDocument | None:
    """Record a guard's news. Returns the finding while the guard objects. The caller saves the run."""
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


def note_losses(run: Run, count: int, step: int, why: str) -> None:
    """Record that attempts were lost in a row without a checkpoint between them, until ``forget_losses``."""
    others = [one for one in findings_of(run) if one["guard"] != LOST]
    found: FindingDocument = {
        "guard": LOST,
        "metric": None,
        "severity": "error",
        "since": step,
        "step": None,
        "message": f"{count} attempts in a row were lost after step {step} and before a checkpoint; the last: {why}."
        " See the log of its node, or save more often with checkpoint.every_steps.",
        "action": "alert",
        "outcome": None,
    }
    run.findings = [*others, found][-MOST:]
    run.save(update_fields=["findings", "updated_at"])


def forget_losses(run: Run) -> None:
    """Drop the finding about lost attempts, because a checkpoint was written. The caller saves the run."""
    run.findings = [one for one in findings_of(run) if one["guard"] != LOST]


def set_outcome(
    run: Run, guard: str, *, control: str | None = None, child: str | None = None, refused: str | None = None
) -> None:
    """Record the outcome of a guard's action, if the guard still objects."""
    outcome = OutcomeDocument(control=control, run=child, refused=refused)
    run.findings = [{**one, "outcome": outcome} if one["guard"] == guard else one for one in findings_of(run)]
    run.save(update_fields=["findings", "updated_at"])


def forget_after(run: Run, step: int) -> None:
    """Drop later findings, because a new attempt continues from ``step``."""
    run.findings = [one for one in findings_of(run) if one["since"] <= step]
    run.save(update_fields=["findings", "updated_at"])


def paused_by(run: Run, reason: str) -> FindingDocument | None:
    """The finding that made the run pause itself."""
    return next((one for one in findings_of(run) if one["action"] != "alert" and one["message"] == reason), None)
