"""The JSON documents of rehearsals: for the API, and for the worker."""

from pathlib import Path
from typing import Annotated, Any, cast

from typing_extensions import TypedDict

from dressage.cluster_jobs.places import ahead_of
from dressage.common.openapi.document_schema import Moment, OneOf, Stored
from dressage.common.times import iso
from dressage.rehearsals.models import Rehearsal, RehearsalState
from dressage.rehearsals.services import LIMIT_S
from dressage.rehearsals.step_time import StepTimeDocument
from dressage.runs.link.datasets import dataset_refs
from dressage.runs.needs import references, reward_versions
from trainer_core.link.bundle import Bundle, PolicyRef
from trainer_core.link.rehearsal import RehearsalJob, RehearsalProgress, RehearsalReport
from trainer_core.spec import RunSpec


class RehearsalRowDocument(TypedDict):
    """A rehearsal as lists show it."""

    id: str
    state: Annotated[str, OneOf(RehearsalState)]
    error: str | None
    """Reason it failed, and what to do."""
    policy: str
    """Slug of the base policy."""
    prompts: int
    """Number of prompts from each source."""
    samples: int
    """Number of samples for each prompt."""
    cluster: str | None
    """The cluster that people chose for it, or that of its run; null: the platform chooses."""
    placed_on: str | None
    """The cluster on which it was given its slot; null before that."""
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    created_by: str


class RehearsalDocument(RehearsalRowDocument):
    """A rehearsal with its spec and, once it is done, its report."""

    spec: Annotated[dict[str, Any], Stored(RunSpec)]
    ahead: int
    """Rehearsals ahead of it while it waits for its slot on the cluster."""
    progress: RehearsalProgress | None
    report: RehearsalReport | None
    step_time: StepTimeDocument | None
    """Null until it is done, and if the planner cannot estimate it."""


def rehearsal_row(rehearsal: Rehearsal) -> RehearsalRowDocument:
    """A rehearsal as lists show it."""
    return {
        "id": rehearsal.id,
        "state": rehearsal.state,
        "error": rehearsal.error,
        "policy": rehearsal.spec["policy"]["base"],
        "prompts": rehearsal.prompts,
        "samples": rehearsal.samples,
        "cluster": rehearsal.cluster or None,
        "placed_on": rehearsal.placed_on or None,
        "created_at": iso(rehearsal.created_at),
        "started_at": iso(rehearsal.started_at),
        "finished_at": iso(rehearsal.finished_at),
        "created_by": rehearsal.created_by,
    }


def rehearsal_document(rehearsal: Rehearsal) -> RehearsalDocument:
    """A rehearsal as the API shows it."""
    return {
        **rehearsal_row(rehearsal),
        "spec": rehearsal.spec,
        "ahead": ahead_of(rehearsal),
        "progress": rehearsal.progress,
        "report": rehearsal.report,
        "step_time": _step_time(rehearsal.step_time),
    }


def _step_time(stored: dict[str, Any] | None) -> StepTimeDocument | None:
    """The stored document; earlier releases stored no ``estimated``."""
    return None if stored is None else cast(StepTimeDocument, {"estimated": False, **stored})


def job_for_worker(rehearsal: Rehearsal) -> RehearsalJob:
    """A rehearsal in the form sent to its worker, with the keys of judges: only for the link.

    Raises:
        Problem: 422 if a reference is gone.
    """
    spec = RunSpec.model_validate(rehearsal.spec)
    found = references.require(rehearsal.team, spec)
    assert found.policy is not None
    bundle = Bundle(
        run_id=rehearsal.id,
        attempt=1,
        spec=spec,
        revision=0,
        policy=PolicyRef(name=found.policy.slug, path=Path(found.policy.path)),
        teacher=None if found.teacher is None else PolicyRef(name=found.teacher.slug, path=Path(found.teacher.path)),
        **reward_versions.bundle_parts(rehearsal.team, spec, found.reward),
        datasets=dataset_refs(spec, found.datasets, f"/api/v1/link/rehearsals/{rehearsal.id}/datasets", afresh=True),
        run_dir=Path(rehearsal.id),  # the worker creates its own folder
    )
    return RehearsalJob(
        id=rehearsal.id,
        bundle=bundle,
        prompts=rehearsal.prompts,
        samples=rehearsal.samples,
        limit_s=LIMIT_S,
        lease_s=rehearsal.lease_s,
    )
