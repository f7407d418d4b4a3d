"""Reads of runs."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import (
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    IntegerField,
    JSONField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Coalesce, JSONObject, Now

from dressage.common.problems import not_found
from dressage.runs.documents import RunDocument, RunFacts, run_document
from dressage.runs.models import Attempt, Checkpoint, Control, Run
from dressage.runs.states import ACTIVE, RunState
from dressage.teams.models import Team
from dressage.telemetry.lines import Line

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations


def runs(team: Team, *, with_spec: bool = False) -> "QuerySet[WithAnnotations[Run, RunFacts]]":
    """The team's runs with all that their documents need; without ``with_spec``, the large columns stay unread."""
    found = annotated(Run.objects.for_team(team))
    return found if with_spec else found.defer("spec", "effective_spec")


def annotated(found: QuerySet[Run]) -> "QuerySet[WithAnnotations[Run, RunFacts]]":
    """``found`` with queue position, lease age, slots in use, and the latest checkpoint, in one query."""
    ahead = (
        Run.objects.filter(state=RunState.QUEUED, queued_at__lt=OuterRef("queued_at"))
        .order_by()
        .values("state")
        .annotate(n=Count("*"))
        .values("n")
    )
    attempt = Attempt.objects.filter(run=OuterRef("pk"), number=OuterRef("attempt"))
    # No attempt after the latest one can have superseded what it wrote, but it can have superseded older ones'.
    resumed_at = Attempt.objects.filter(run=OuterRef("run"), number=OuterRef("run__attempt")).values("resume_step")
    latest = (
        Checkpoint.objects.filter(run=OuterRef("pk"))
        .annotate(cut=Coalesce(Subquery(resumed_at), 0))
        .exclude(attempt__lt=F("run__attempt"), step__gt=F("cut"))
        .order_by("-step", "-attempt")
        .values(document=JSONObject(id="id", step="step", created_at="created_at", reason="reason"))[:1]
    )
    active = Run.objects.filter(state__in=ACTIVE).order_by().annotate(one=Value(1)).values("one").annotate(n=Count("*"))
    return found.annotate(
        queue_ahead=Coalesce(Subquery(ahead, output_field=IntegerField()), 0),
        active_runs=Coalesce(Subquery(active.values("n"), output_field=IntegerField()), 0),
        slots=Value(settings.MAX_ACTIVE_RUNS),
        lease_age=ExpressionWrapper(Now() - Subquery(attempt.values("last_sync_at")), output_field=DurationField()),
        last_checkpoint=Subquery(latest, output_field=JSONField()),
        parent_name=F("parent__name"),
        policy_name=KeyTextTransform("base", KeyTransform("policy", "spec")),
    )


def run(team: Team, run_id: str) -> "WithAnnotations[Run, RunFacts]":
    """One run, ready for ``run_document``. Raises a 404 problem."""
    found = runs(team, with_spec=True).filter(pk=run_id).first()
    if found is None:
        raise not_found("run")
    return found


def plain_run(team: Team, run_id: str) -> Run:
    """One run without computed values. Raises a 404 problem."""
    found = Run.objects.for_team(team).filter(pk=run_id).first()
    if found is None:
        raise not_found("run")
    return found


def run_json(team: Team, run_id: str) -> RunDocument:
    """The document of one run. Raises a 404 problem."""
    return run_document(run(team, run_id))


def controls(found: Run) -> QuerySet[Control]:
    """The run's controls, newest first by the list's order."""
    return Control.objects.filter(run=found)


def control(found: Run, control_id: str) -> Control:
    """One control of the run. Raises a 404 problem."""
    hit = controls(found).filter(pk=control_id).first()
    if hit is None:
        raise not_found("control")
    return hit


def checkpoints(found: Run) -> QuerySet[Checkpoint]:
    """The run's checkpoints, superseded ones included."""
    return Checkpoint.objects.filter(run=found).select_related("run")


def checkpoint(team: Team, checkpoint_id: str) -> Checkpoint:
    """One checkpoint of any run of the team. Raises a 404 problem."""
    found = Checkpoint.objects.for_team(team).select_related("run").filter(pk=checkpoint_id).first()
    if found is None:
        raise not_found("checkpoint")
    return found


def line_of(found: Run) -> Line:
    """Line of the run as it is now: the points that count, of each attempt."""
    return Line.from_attempts(list(found.attempts.values_list("number", "resume_step")))
