"""Writes of rehearsals. Nothing of a run is made by them."""

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.ids import new_id
from dressage.common.problems import Problem, conflict, invalid, not_found
from dressage.common.secrets import secret_hash
from dressage.rehearsals.models import OPEN, Rehearsal, RehearsalState
from dressage.rehearsals.places import give_places
from dressage.rehearsals.step_time import step_time
from dressage.rehearsals.tokens import rehearsal_token
from dressage.runs import references
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.link.rehearsal import RehearsalProgress, RehearsalReport
from trainer_core.spec import RunSpec

LEASE_S = 15.0
"""Seconds after which a worker that has not asked again is believed dead; also the longest that a cancelled one goes
on."""
LIMIT_S = 600.0
"""Seconds that a worker may take."""
MAX_OPEN = 3
"""Rehearsals of one team that may wait or run at a time."""
MAX_ANSWERS = 256
"""Answers of one rehearsal, of all sources."""
_END = ("state", "error", "progress", "finished_at", "lease_expires_at")


@transaction.atomic
def create_rehearsal(team: Team, actor: Actor, *, spec: RunSpec, prompts: int, samples: int) -> Rehearsal:
    """A new rehearsal; the cluster is told on commit, once it has its place.

    Args:
        team: the owner.
        actor: who asks.
        spec: valid in itself; its references are resolved here, and the files behind them must exist.
        prompts: prompts of each source.
        samples: samples of each prompt.

    Raises:
        Problem: 422 for a reference that stands for nothing, or too many answers; 429 when too many rehearsals of the
            team are open. Nothing is made.
    """
    references.require_files(team, spec, new=True)
    answers = prompts * samples * len(spec.data.sources)
    if answers > MAX_ANSWERS:
        raise invalid("/samples", f"These are {answers} answers; a rehearsal has at most {MAX_ANSWERS}: take fewer.")
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if Rehearsal.objects.for_team(team).filter(state__in=OPEN).count() >= MAX_OPEN:
        detail = f"{MAX_OPEN} rehearsals of this team are open already. Cancel one, or try again when one is done."
        raise Problem(429, "Too many requests", detail, code="too_many_rehearsals", headers={"Retry-After": "10"})
    rehearsal_id = new_id(Rehearsal.id_prefix)
    rehearsal = Rehearsal.objects.create(
        id=rehearsal_id,
        team=team,
        token_sha256=secret_hash(rehearsal_token(rehearsal_id)),
        spec=spec.model_dump(mode="json"),
        prompts=prompts,
        samples=samples,
        created_by=actor.label,
    )
    facts = {"policy": spec.policy.base, "prompts": prompts, "samples": samples}
    record_audit(team, actor, "rehearsal.create", "rehearsal", rehearsal.id, after=facts)
    give_places()
    return rehearsal


@transaction.atomic
def cancel_rehearsal(team: Team, actor: Actor, rehearsal_id: str) -> Rehearsal:
    """End a rehearsal without a result; its worker ends itself. One that is cancelled already stays so.

    Raises:
        Problem: 404 for one that is not there, 409 for one that is over.
    """
    rehearsal = Rehearsal.objects.for_team(team).select_for_update().filter(pk=rehearsal_id).first()
    if rehearsal is None:
        raise not_found("rehearsal")
    if rehearsal.state == RehearsalState.CANCELLED:
        return rehearsal
    require_open(rehearsal)
    _end(rehearsal, RehearsalState.CANCELLED, None)
    record_audit(team, actor, "rehearsal.cancel", "rehearsal", rehearsal.id)
    return rehearsal


def require_open(rehearsal: Rehearsal) -> None:
    """Require that a result is still awaited. Raises a 409 problem: the token opens nothing any more."""
    if rehearsal.state not in OPEN:
        raise conflict(f"The rehearsal is {rehearsal.state}.", code="rehearsal_is_over")


@transaction.atomic
def take(rehearsal_id: str, progress: RehearsalProgress | None = None) -> None:
    """Begin or renew the lease of its worker. Raises a 409 problem when it is over."""
    rehearsal = Rehearsal.objects.select_for_update().defer("spec", "report").get(pk=rehearsal_id)
    require_open(rehearsal)
    if rehearsal.state == RehearsalState.QUEUED:
        rehearsal.tries += 1
    rehearsal.state, rehearsal.started_at = RehearsalState.RUNNING, rehearsal.started_at or timezone.now()
    rehearsal.placed_at = rehearsal.placed_at or timezone.now()
    if progress is not None:
        rehearsal.progress = progress.model_dump(mode="json")
    rehearsal.save(update_fields=["state", "tries", "started_at", "placed_at", "progress"])
    Rehearsal.objects.filter(pk=rehearsal_id).update(lease_expires_at=Now() + timedelta(seconds=LEASE_S))


@transaction.atomic
def take_result(rehearsal_id: str, report: RehearsalReport | None, error: str | None) -> Rehearsal:
    """A worker's answer; the first one counts and may be repeated. Raises a 409 problem when the rehearsal is over."""
    rehearsal = Rehearsal.objects.select_for_update().get(pk=rehearsal_id)
    document = None if report is None else report.model_dump(mode="json")
    if rehearsal.state == RehearsalState.DONE and document is not None and document == rehearsal.report:
        return rehearsal
    require_open(rehearsal)
    if report is None:
        return fail(rehearsal, error or "The worker has given no reason.")
    rehearsal.report = document
    rehearsal.step_time = step_time(rehearsal.team, RunSpec.model_validate(rehearsal.spec), report)
    rehearsal.save(update_fields=["report", "step_time"])
    return _end(rehearsal, RehearsalState.DONE, None)


@transaction.atomic
def give_up(rehearsal_id: str, reason: str) -> None:
    """End a rehearsal that no worker can hold, unless it is over."""
    rehearsal = Rehearsal.objects.select_for_update().get(pk=rehearsal_id)
    if rehearsal.state in OPEN:
        fail(rehearsal, reason)


def fail(rehearsal: Rehearsal, reason: str) -> Rehearsal:
    """End a rehearsal without a result."""
    return _end(rehearsal, RehearsalState.FAILED, reason[:2000])


def _end(rehearsal: Rehearsal, state: RehearsalState, error: str | None) -> Rehearsal:
    rehearsal.state, rehearsal.error, rehearsal.progress = state, error, None
    rehearsal.finished_at, rehearsal.lease_expires_at = timezone.now(), None
    rehearsal.save(update_fields=_END)
    return rehearsal
