"""Reads of runs."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, cast

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    Case,
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    IntegerField,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Coalesce, JSONObject, Now

from dressage.clusters.models import Cluster
from dressage.clusters.selectors import SIZE_COLUMNS
from dressage.common.api.problems import not_found
from dressage.common.compiled import compiled
from dressage.common.models import TeamQuerySet
from dressage.runs.facts.documents import RunDocument, RunFacts, run_documents
from dressage.runs.facts.gpu_hours import outer_limit, used_by
from dressage.runs.models import Attempt, Checkpoint, Control, Run, TeamPlaces
from dressage.runs.states import ACTIVE, RunState
from dressage.teams.models import Team
from dressage.telemetry.lines import FOREVER, NOTHING, Line
from dressage.telemetry.selectors import last_step_by

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations


def runs(team: Team, *, with_spec: bool = False) -> "QuerySet[WithAnnotations[Run, RunFacts]]":
    """The team's runs with all facts for their documents. Without ``with_spec``, the large columns are not read."""
    found = with_facts().for_team(team)
    return found if with_spec else found.defer("spec", "effective_spec")


def with_facts() -> "TeamQuerySet[WithAnnotations[Run, RunFacts]]":
    """Runs with what they wait for, lease age, and the latest checkpoint, in one query. The caller filters them."""
    return _with_facts().all()


@cache
def _with_facts() -> "TeamQuerySet[WithAnnotations[Run, RunFacts]]":
    """The unfiltered query over runs of all teams. Built once, because building takes longer than a query."""
    attempt = Attempt.objects.filter(run=OuterRef("pk"), number=OuterRef("attempt"))
    # No attempt after the latest one can have superseded its checkpoints, but it can have superseded older ones'.
    resumed_at = Attempt.objects.filter(run=OuterRef("run"), number=OuterRef("run__attempt")).values("resume_step")
    latest = (
        Checkpoint.objects.filter(run=OuterRef("pk"), damage="")
        .annotate(cut=Coalesce(Subquery(resumed_at), 0))
        .exclude(attempt__lt=F("run__attempt"), step__gt=F("cut"))
        .order_by("-step", "-attempt")
        .values(document=JSONObject(id="id", step="step", created_at="created_at", reason="reason"))[:1]
    )
    facts = Run.objects.annotate(
        queue_facts=Case(When(state=RunState.QUEUED, then=_queue_facts())),
        placed_on=Case(When(attempt__gt=0, then=Subquery(attempt.values("cluster")))),
        lease_age=ExpressionWrapper(Now() - Subquery(attempt.values("last_sync_at")), output_field=DurationField()),
        last_checkpoint=Subquery(latest, output_field=JSONField()),
        policy_name=KeyTextTransform("base", KeyTransform("policy", "spec")),
        objective_name=Coalesce(KeyTextTransform("type", KeyTransform("objective", "spec")), Value("rl", TextField())),
    )
    found = Run.objects.annotate(**compiled(facts), parent_name=F("parent__name"))
    return cast("TeamQuerySet[WithAnnotations[Run, RunFacts]]", found)


def _queue_facts() -> JSONObject:
    """A ``waiting.QueueFacts`` for each run. About other teams' runs it only contains their number."""
    first = Q(queued_at__lt=OuterRef("queued_at")) | Q(queued_at=OuterRef("queued_at"), id__lt=OuterRef("id"))
    ahead = Run.objects.filter(first, state=RunState.QUEUED, team=OuterRef("team"))
    active = Run.objects.filter(state__in=ACTIVE)
    own = active.filter(team=OuterRef("team")).order_by("started_at", "id")
    on = Attempt.objects.filter(run__state__in=ACTIVE, number=F("run__attempt"))
    limit = TeamPlaces.objects.filter(team=OuterRef("team")).values("places")
    return JSONObject(
        ahead=_count(ahead),
        taken=_count(active),
        own=ArraySubquery(own.values(document=JSONObject(id="id", name="name", state="state"))),
        own_limit=Subquery(limit),
        cluster=F("cluster"),
        parallelism=KeyTransform("parallelism", "spec"),
        engine=KeyTransform("engine", KeyTransform("rollout", "spec")),
        objective=KeyTransform("type", KeyTransform("objective", "spec")),
        clusters=ArraySubquery(Cluster.objects.values(document=JSONObject(**{name: name for name in SIZE_COLUMNS}))),
        active_on=ArraySubquery(on.values("cluster")),
        gpu_seconds=used_by(OuterRef("team")),
        gpu_hours=Subquery(outer_limit()),
    )


def _count(found: QuerySet[Run]) -> Coalesce:
    counted = found.order_by().annotate(one=Value(1)).values("one").annotate(n=Count("*")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def run(team: Team, run_id: str) -> "WithAnnotations[Run, RunFacts]":
    """One run, ready for ``run_documents``. Raises a 404 problem."""
    found = runs(team, with_spec=True).filter(pk=run_id).first()
    if found is None:
        raise not_found("run")
    return found


def runs_by_id(team: Team, ids: Sequence[str]) -> "list[WithAnnotations[Run, RunFacts]]":
    """The existing runs among the ids, each once and in the order of the ids, ready for ``run_documents``."""
    found = runs(team, with_spec=True).in_bulk(list(ids))
    return [found[run_id] for run_id in dict.fromkeys(ids) if run_id in found]


def plain_run(team: Team, run_id: str, *, with_spec: bool = False) -> Run:
    """One run without computed values, and without its large columns unless requested. Raises a 404 problem."""
    found = Run.objects.for_team(team).filter(pk=run_id)
    run = (found if with_spec else found.defer("spec", "effective_spec")).first()
    if run is None:
        raise not_found("run")
    return run


def plain_runs(team: Team, ids: Sequence[str]) -> list[Run]:
    """The existing runs among the ids, each once and in the order of the ids; as ``plain_run``."""
    found = Run.objects.for_team(team).defer("spec", "effective_spec").in_bulk(list(ids))
    return [found[run_id] for run_id in dict.fromkeys(ids) if run_id in found]


def run_json(team: Team, run_id: str) -> RunDocument:
    """The document of one run. Raises a 404 problem."""
    [document] = run_documents([run(team, run_id)])
    return document


def controls(found: Run) -> QuerySet[Control]:
    """The run's controls, newest first in the order of the list."""
    return Control.objects.filter(run=found)


def control(found: Run, control_id: str) -> Control:
    """One control of the run. Raises a 404 problem."""
    hit = controls(found).filter(pk=control_id).first()
    if hit is None:
        raise not_found("control")
    return hit


def checkpoints(found: Run) -> QuerySet[Checkpoint]:
    """The run's checkpoints, including superseded ones."""
    return Checkpoint.objects.filter(run=found).select_related("run")


def checkpoint(team: Team, checkpoint_id: str) -> Checkpoint:
    """One checkpoint of any run of the team. Raises a 404 problem."""
    found = Checkpoint.objects.for_team(team).select_related("run").filter(pk=checkpoint_id).first()
    if found is None:
        raise not_found("checkpoint")
    return found


def line_of(found: Run) -> Line:
    """Line of the run as it is now: the points of each attempt that count."""
    return Line.from_attempts(list(found.attempts.values_list("number", "resume_step")))


def line_as_of(found: Run, instant: datetime) -> Line:
    """Line of the run at an earlier time: steps done by then, of the attempts that existed then."""
    attempts = list(found.attempts.values_list("number", "resume_step", "created_at"))
    line = Line.from_attempts([(number, resume_step) for number, resume_step, made in attempts if made <= instant])
    later = [number for number, _, made in attempts if made > instant]
    last = last_step_by(found.id, line.cut(FOREVER, later), instant)
    return line.cut(NOTHING if last is None else last, later)
