"""Documents of a run's incidents."""

import math
from collections.abc import Iterator
from typing import Any, Literal

from typing_extensions import TypedDict

from dressage.runs.models import Checkpoint, Run
from dressage.runs.watch.incidents.facts import facts_of
from dressage.runs.watch.incidents.signs import AttemptSpan
from dressage.telemetry.lines import Line
from dressage.telemetry.models import Event
from dressage.telemetry.selectors import describe
from trainer_core.diagnosis.incidents import Incident, MetricEvidence, incidents, read_traceback
from trainer_core.diagnosis.incidents.frames import Owner
from trainer_core.diagnosis.incidents.incident import Act, Confidence, Kind, Severity

MOST = 50
"""Maximum number of incidents in a response."""
_AFTER_A_STEP: tuple[Kind, ...] = ("failure", "stuck")
CHECKPOINTS = 200
"""Number of newest checkpoints to search for one from before an incident."""


class MetricEvidenceDocument(TypedDict):
    """A metric that is evidence for an incident."""

    metric: str
    title: str
    unit: str
    value: float | None
    """Median of its newest values during the incident; null if they are not finite."""
    usual: float | None
    """Median of the 20 steps before; null if fewer than three were reported."""
    low: float | None
    """Lower bound of its guard."""
    high: float | None
    """Upper bound of its guard."""


class SignDocument(TypedDict):
    """An objection from which the incident was derived."""

    source: Literal["guard", "alert", "metric", "state"]
    name: str
    """Key of the guard, code of the alert, name of the metric, or name of the state."""
    severity: Severity
    since: int
    until: int | None
    message: str


class IncidentChangeDocument(TypedDict):
    """A field that was changed in the 20 steps before."""

    target: str
    before: Any
    value: Any
    step: int
    actor: str


class RemedyDocument(TypedDict):
    """One suggested action."""

    text: str
    act: Act | None
    """Action by which the console does it; null if there is none."""
    target: str | None
    """Path of the field, for a control; groups to look at, for samples."""


class IncidentCheckpointDocument(TypedDict):
    """The newest checkpoint from before an incident whose files still exist."""

    id: str
    step: int


class FrameDocument(TypedDict):
    """One frame of a traceback."""

    file: str
    line: int
    function: str
    code: str
    owner: Owner


class ExceptionDocument(TypedDict):
    """The exception of a failed run."""

    error: str
    """Type and message."""
    frames: list[FrameDocument]
    """Your own code first, then the platform's, then libraries'; innermost first in each."""
    attempt: int
    cluster: str | None
    node: str | None
    """Address of the node that raised it, if the traceback names it."""
    pid: int | None


class IncidentDocument(TypedDict):
    """One problem of a run, present or past."""

    key: str
    """Identifies it within its run as long as it starts at the same step."""
    kind: Kind
    severity: Severity
    state: Literal["open", "over"]
    """``open`` while it lasts; for a finished run, as of its end."""
    since: int
    """Step of the first objection."""
    until: int | None
    """Last step at which it held; null while it lasts."""
    title: str
    cause: str
    """One or more sentences. A guess is marked as such."""
    confidence: Confidence
    """``known``: measured, or stated by what failed; ``likely``: a guess; ``unknown``: nothing indicates the cause."""
    evidence: list[MetricEvidenceDocument]
    signs: list[SignDocument]
    changes: list[IncidentChangeDocument]
    advice: list[RemedyDocument]
    checkpoint: IncidentCheckpointDocument | None
    exception: ExceptionDocument | None
    """Set if the run has failed with one."""


class IncidentsDocument(TypedDict):
    """The incidents of a run: open ones first, most severe first; then the others, newest first."""

    object: Literal["list"]
    data: list[IncidentDocument]
    open: int
    """Number of open incidents."""


def incidents_document(run: Run) -> IncidentsDocument:
    """The incidents of a run, which must be loaded with its spec."""
    columns = ("number", "resume_step", "last_step", "cluster", "last_sync_at")
    rows = list(run.attempts.values_list(*columns))
    attempts = {number: AttemptSpan(number, resume, last, cluster) for number, resume, last, cluster, _ in rows}
    heard_at = next((at for number, _, _, _, at in rows if number == run.attempt), None)
    line = Line.from_attempts([(one.number, one.resume_step) for one in attempts.values()])
    checkpoints = [
        one for one in run.checkpoints.order_by("-step", "-attempt")[:CHECKPOINTS] if line.has(one.attempt, one.step)
    ]
    found = incidents(facts_of(run, attempts, heard_at, checkpoints[0].step if checkpoints else None))[:MOST]
    places = _Checkpoints(run, checkpoints)
    # A run that hangs or has failed has completed its last step: a checkpoint saved after it is sound.
    data = [_document(one, places.before(one.since + (one.kind in _AFTER_A_STEP))) for one in found]
    for one in data:
        if one["kind"] == "failure":
            one["exception"] = _exception(run, attempts)
    return {"object": "list", "data": data, "open": sum(one["state"] == "open" for one in data)}


class _Checkpoints:
    """Finds checkpoints whose files exist; each is checked once."""

    def __init__(self, run: Run, rows: list[Checkpoint]) -> None:
        self._rows = rows
        self._there: dict[str, bool] = {}
        for row in rows:
            row.run = run

    def before(self, step: int) -> IncidentCheckpointDocument | None:
        """The newest checkpoint from before ``step``."""
        one = next(self._earlier(step), None)
        return None if one is None else {"id": one.id, "step": one.step}

    def _earlier(self, step: int) -> Iterator[Checkpoint]:
        for one in self._rows:
            if one.step < step and not one.damage and self._there.setdefault(one.id, one.available):
                yield one


def _document(one: Incident, checkpoint: IncidentCheckpointDocument | None) -> IncidentDocument:
    return {
        "key": f"{one.kind}-{one.since}",
        "kind": one.kind,
        "severity": one.severity,
        "state": "open" if one.until is None else "over",
        "since": one.since,
        "until": one.until,
        "title": one.title,
        "cause": one.cause,
        "confidence": one.confidence,
        "evidence": [_evidence(metric) for metric in one.evidence],
        "signs": [
            {
                "source": sign.source,
                "name": sign.name,
                "severity": sign.severity,
                "since": sign.since,
                "until": sign.until,
                "message": sign.message,
            }
            for sign in one.signs
        ],
        "changes": [
            {"target": c.target, "before": c.before, "value": c.value, "step": c.step, "actor": c.actor}
            for c in one.changes
        ],
        "advice": [{"text": to_do.text, "act": to_do.act, "target": to_do.target} for to_do in one.advice],
        "checkpoint": checkpoint,
        "exception": None,
    }


def _evidence(one: MetricEvidence) -> MetricEvidenceDocument:
    entry = describe(one.metric)
    return {
        "metric": one.metric,
        "title": entry["title"],
        "unit": entry["unit"],
        "value": one.value,
        "usual": one.usual if one.usual is not None and math.isfinite(one.usual) else None,
        "low": one.low,
        "high": one.high,
    }


def _exception(run: Run, attempts: dict[int, AttemptSpan]) -> ExceptionDocument | None:
    """The exception in the run's last state."""
    event = Event.objects.filter(run_id=run.id, kind="state").order_by("-seq").first()
    traceback = None if event is None else read_traceback(event.data.get("detail") or "")
    if event is None or traceback is None:
        return None
    attempt = attempts.get(event.attempt)
    return {
        "error": traceback.error,
        "frames": [
            {"file": one.file, "line": one.line, "function": one.function, "code": one.code, "owner": one.owner}
            for one in traceback.frames
        ],
        "attempt": event.attempt,
        "cluster": (attempt.cluster if attempt else "") or None,
        "node": traceback.node,
        "pid": traceback.pid,
    }
