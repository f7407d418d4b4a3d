"""Facts of a run for the catalogue of incidents, read in a bounded number of rows."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from dressage.runs.facts import selectors
from dressage.runs.facts.health import stuck_for
from dressage.runs.facts.step_times import p95_by_phase
from dressage.runs.models import Run
from dressage.runs.states import RunState
from dressage.runs.steer.change_sets import IN_EFFECT
from dressage.runs.watch.incidents.signs import AttemptSpan, signs_of
from dressage.telemetry.lines import Line
from dressage.telemetry.models import Point, Series
from dressage.telemetry.selectors import events
from trainer_core.diagnosis.incidents import Failure, KnobTurn, Phase, Sign, Symptoms, is_lasting, is_watched
from trainer_core.spec import RunSpec

ALERTS = 500
"""Number of newest alerts to read."""
CHANGES = 200
NEWEST = 100
"""Number of newest steps whose metrics are read."""
AROUND = 30
"""Number of newest signs around whose starts and ends metrics are read."""
_BACK, _ON = 50, 10
"""Steps before a sign, which may include a rescoring, and after it."""
LASTING = 500
"""Number of newest values above 0 to read, for metrics that show how long an alert lasted."""


def facts_of(run: Run, attempts: dict[int, AttemptSpan], heard_at: datetime | None, saved: int | None) -> Symptoms:
    """The facts of a run.

    Args:
        run: loaded with its spec.
        attempts: by number.
        heard_at: time of the worker's last message.
        saved: step of the newest checkpoint.
    """
    line = Line.from_attempts([(one.number, one.resume_step) for one in attempts.values()])
    alerts = list(events(run.id, ["alert"]).order_by("-seq")[:ALERTS])[::-1]
    spec = RunSpec.model_validate(run.effective_spec)
    signs = signs_of(run, spec, alerts, attempts, line, saved)
    return Symptoms(
        step=run.step,
        signs=tuple(signs),
        series=_series(run, line, signs),
        changes=_changes(run),
        failure=Failure(run.state_reason, run.step) if run.state == RunState.FAILED else None,
        phase=_phase(run, heard_at),
    )


def _series(run: Run, line: Line, signs: Sequence[Sign]) -> dict[str, list[tuple[int, float]]]:
    """The values around signs, the newest values, and how long alerts lasted. Ascending by step."""
    guarded = {sign.metric for sign in signs}
    names = {
        number: name
        for number, name in Series.objects.filter(run_id=run.id).values_list("id", "name")
        if is_watched(name) or name in guarded
    }
    steps = Q(step__gt=run.step - NEWEST)
    for sign in signs[-AROUND:]:
        end = sign.since if sign.until is None else sign.until
        steps |= Q(step__gte=sign.since - _BACK, step__lte=sign.since + _ON)
        steps |= Q(step__gte=end - _ON, step__lte=end + _ON)
    points = Point.objects.filter(line.condition(), series_id__in=list(names))
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for series, step, value in points.filter(steps).values_list("series_id", "step", "value"):
        found[names[series]][step] = value
    lasting = [number for number, name in names.items() if is_lasting(name)]
    if lasting and any(sign.source == "alert" and sign.until is None for sign in signs):
        rows = points.filter(series_id__in=lasting, value__gt=0.0).order_by("-step")
        for series, step, value in rows.values_list("series_id", "step", "value")[:LASTING]:
            found[names[series]][step] = value
    return {name: sorted(values.items()) for name, values in found.items()}


def _changes(run: Run) -> tuple[KnobTurn, ...]:
    """Fields that were changed, oldest first. Changes to guards are left out, because no metric follows from them."""
    rows = selectors.controls(run).filter(state__in=IN_EFFECT, applied_step__isnull=False).exclude(target="guards")
    newest = rows.order_by("-revision")[:CHANGES]
    return tuple(
        KnobTurn(one.target, one.before, one.value, one.applied_step or 0, one.actor_name) for one in reversed(newest)
    )


def _phase(run: Run, heard_at: datetime | None) -> Phase | None:
    silent, progress = stuck_for(run), run.progress
    if silent is None or progress is None:
        return None
    name = str(progress.get("phase"))
    return Phase(
        name=name,
        silent_s=silent,
        done=int(progress.get("done") or 0),
        total=int(progress.get("total") or 0),
        usual_s=p95_by_phase(run.summary.get("times", {})).get(name),
        heard_s=None if heard_at is None else (timezone.now() - heard_at).total_seconds(),
    )
