"""User actions on jobs: start, cancel, resume, undo."""

from dataclasses import dataclass

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.problems import conflict, invalid
from dressage.datasets import selectors
from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import notes
from dressage.datasets.versions.holding import hold
from dressage.jobs.local import end, notify, queue_again
from dressage.jobs.room import require_room
from dressage.lab.arguments import (
    AnyOperation,
    AskingOperation,
    AssessQuality,
    FindContamination,
    FindDuplicates,
    FindParaphrases,
    SynthesiseRows,
)
from dressage.lab.asking.cost import cost_of_asking
from dressage.lab.asking.endpoints import asked_endpoint
from dressage.lab.cost import LabCost, cost_of
from dressage.lab.models import OPEN, LabJob, LabState
from dressage.lab.paraphrases.cost import cost_of_vectors
from dressage.lab.synthesis.cost import cost_of_synthesis
from dressage.lab.synthesis.undo import take_back
from dressage.teams.models import Team
from dressage.teams.services import record_audit

MAX_OPEN = 10
"""Maximum number of unfinished jobs per team."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An operation with its cost, and its job if it was started."""

    cost: LabCost
    job: LabJob | None


def start_job(version: DatasetVersion, actor: Actor, operation: AnyOperation, *, dry_run: bool = False) -> Asked:
    """Start a job. A worker is notified on commit.

    Args:
        version: the version with the rows.
        actor: who makes the request.
        operation: the operation.
        dry_run: whether to return only the cost.

    Raises:
        Problem: 409 if a job of this kind is already working on the version; 422 if the operation refers to something
            that does not exist; 429 if the team has too many unfinished jobs. Nothing is created then.
    """
    team = version.dataset.team
    others: list[DatasetVersion] = []
    if isinstance(operation, FindDuplicates | FindContamination | FindParaphrases | AssessQuality):
        _check_columns(version, operation.columns)
    if isinstance(operation, FindDuplicates | FindContamination):
        others = _others(team, version, operation.against)
    if isinstance(operation, SynthesiseRows):
        cost = cost_of_synthesis(team, version, operation)
    elif isinstance(operation, FindParaphrases):
        cost = cost_of_vectors(version, operation, asked_endpoint(team, operation))
    elif isinstance(operation, AskingOperation):
        cost = cost_of_asking(version, operation, asked_endpoint(team, operation))
    else:
        cost = cost_of(operation.kind, [version, *others])
    if dry_run:
        return Asked(cost, None)
    with transaction.atomic():
        hold(team, [one.ref for one in (version, *others)])
        for one in (version, *others):  # may have been deleted in the meantime
            selectors.readable_version(team, one.dataset_id, one.number)
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        _require_room(team, version, operation.kind)
        job = LabJob.objects.create(
            team=team,
            version=version,
            kind=operation.kind,
            operation=operation.model_dump(mode="json"),
            rows=cost["rows"],
            actor={"kind": actor.kind, "id": actor.id, "name": actor.name},
            created_by=actor.label,
        )
        after = {"ref": version.ref, "operation": job.operation}
        record_audit(team, actor, "lab.start", "lab_job", job.id, after=after)
        notify(job)
    return Asked(cost, job)


@transaction.atomic
def cancel_job(team: Team, actor: Actor, job: LabJob) -> LabJob:
    """Cancel an unfinished job. It leaves no notes. Raises a 409 problem if it is over."""
    locked = LabJob.objects.select_for_update(of=("self",)).select_related("version__dataset").get(pk=job.pk)
    if locked.state not in OPEN:
        raise conflict(f"The job has ended: it is {locked.state}.", code="lab_job_is_over")
    end(locked, LabState.CANCELLED)
    record_audit(team, actor, "lab.cancel", "lab_job", job.id, after={"ref": locked.version.ref, "kind": locked.kind})
    return locked


@transaction.atomic
def resume_job(team: Team, actor: Actor, job: LabJob) -> LabJob:
    """Make a waiting job store its result. A worker is notified on commit.

    Raises:
        Problem: 409 if it is not waiting. Nothing changes then.
    """
    locked = LabJob.objects.select_for_update(of=("self",)).select_related("version__dataset").get(pk=job.pk)
    if locked.state != LabState.WAITING:
        raise conflict(f"The job is not waiting: it is {locked.state}.", code="lab_job_does_not_wait")
    queue_again(locked)
    record_audit(team, actor, "lab.resume", "lab_job", job.id, after={"ref": locked.version.ref, "kind": locked.kind})
    return locked


@transaction.atomic
def undo_job(team: Team, actor: Actor, job: LabJob) -> LabJob:
    """Delete the notes that a job left and the version that it created. Versions that people derived stay.

    Raises:
        Problem: 409 if it left neither, a later job replaced its notes, or something needs the version. Nothing changes
            then.
    """
    jobs = LabJob.objects.select_for_update(of=("self",)).select_related("version__dataset", "made__dataset")
    locked = jobs.get(pk=job.pk)
    made = locked.made
    taken_back = take_back(locked, actor)
    mine = [one for one in notes.of(locked.version) if one.source["id"] == locked.id]
    if not mine and not taken_back:
        raise conflict("The job's notes do not exist or were already deleted.", code="nothing_to_undo")
    for one in mine:
        notes.delete(one, actor)
    locked.notes, locked.made = [], None
    locked.save(update_fields=["notes", "made"])
    after = {"ref": locked.version.ref, "kind": locked.kind}
    if taken_back and made is not None:
        after["deleted"] = made.ref
    record_audit(team, actor, "lab.undo", "lab_job", job.id, after=after)
    return locked


def _check_columns(version: DatasetVersion, columns: list[str]) -> None:
    known = {"prompt", "answer", *(column["name"] for column in version.columns)}
    for index, column in enumerate(columns):
        if column not in known:
            detail = f"{version.ref} has no column {column!r}. It has {', '.join(sorted(known))[:600]}."
            raise invalid(f"/operation/columns/{index}", detail, code="unknown_column")


def _others(team: Team, version: DatasetVersion, refs: list[str]) -> list[DatasetVersion]:
    found: list[DatasetVersion] = []
    for index, ref in enumerate(refs):
        pointer = f"/operation/against/{index}"
        try:
            other = selectors.version_by_ref(team, ref)
        except LookupError as error:
            raise invalid(pointer, str(error), code="unknown_reference") from error
        if other.pk == version.pk or other.pk in [one.pk for one in found]:
            raise invalid(pointer, f"{ref} is already compared: list each version once, and not the version itself.")
        found.append(other)
    return found


def _require_room(team: Team, version: DatasetVersion, kind: str) -> None:
    open_jobs = LabJob.objects.for_team(team).filter(state__in=OPEN)
    if open_jobs.filter(version=version, kind=kind).exists():
        detail = f"A job of this kind is already running on {version.ref}. Wait until it ends, or cancel it."
        raise conflict(detail, code="lab_job_is_open")
    require_room(open_jobs, team, MAX_OPEN, plural="jobs", code="too_many_lab_jobs", retry_s=30)
