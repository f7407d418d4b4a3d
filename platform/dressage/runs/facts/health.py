"""Health of a run: the objections of its guards, and whether it makes progress at all."""

from datetime import UTC, datetime
from typing import Literal

from typing_extensions import TypedDict

from dressage.runs.facts.findings import FindingDocument, findings_of
from dressage.runs.facts.step_times import p95_by_phase
from dressage.runs.models import Run
from dressage.runs.states import RunState
from trainer_core.diagnosis.incidents import duration

STUCK_S = 600.0
"""Minimum time without progress before a run may be stuck in a phase of unknown duration: models are loaded, a
checkpoint is written."""
STUCK_KNOWN_S = 45.0
"""The same for a phase that recent steps have been through."""
STUCK_STEPS = 10.0
"""Multiple of the mean step time, and of the phase's 95th percentile, that the time without progress must reach."""


class HealthDocument(TypedDict):
    """Health of a run, which its state does not show: a run whose policy has collapsed continues, and succeeds."""

    state: Literal["ok", "warn", "error"]
    """The severity of its most severe finding."""
    findings: list[FindingDocument]
    """Current objections of its guards, most severe first; for a finished run, those at its end."""


def health_document(run: Run) -> HealthDocument:
    """Health as the API shows it."""
    stuck = _stuck(run)
    found = [*([] if stuck is None else [stuck]), *findings_of(run)]
    found.sort(key=lambda one: (one["severity"] != "error", one["since"]))
    return {"state": found[0]["severity"] if found else "ok", "findings": found}


def stuck_for(run: Run) -> float | None:
    """Seconds since a running run last reported progress; None unless that is far longer than its steps take."""
    if run.state != RunState.RUNNING or not run.progress or not run.progress.get("at"):
        return None
    silent = (datetime.now(UTC) - datetime.fromisoformat(run.progress["at"])).total_seconds()
    usual = p95_by_phase(run.summary.get("times", {})).get(str(run.progress.get("phase")))
    least = STUCK_S if usual is None else max(STUCK_KNOWN_S, STUCK_STEPS * usual)
    return None if silent < max(least, STUCK_STEPS * _pace(run)) else silent


def _pace(run: Run) -> float:
    return float(run.summary.get("seconds_per_step") or 0.0)


def _stuck(run: Run) -> FindingDocument | None:
    silent, pace = stuck_for(run), _pace(run)
    if silent is None or run.progress is None:
        return None
    usual = f"; a step takes {pace:.0f} s" if pace else ""
    return {
        "guard": "stuck",
        "metric": None,
        "severity": "error",
        "since": run.step,
        "step": None,
        "message": f"No progress for {duration(silent)} in the phase {run.progress.get('phase')}{usual}.",
        "action": "alert",
        "outcome": None,
    }
