"""The JSON documents of profiles: for the API, and for the worker."""

from pathlib import Path
from typing import Annotated, Any

from typing_extensions import TypedDict

from dressage.cluster_jobs.places import ahead_of
from dressage.common.openapi.document_schema import Moment, OneOf, Stored
from dressage.common.times import iso
from dressage.profiles import selectors
from dressage.profiles.models import Profile, ProfileState
from dressage.profiles.report import ProfileReport
from dressage.profiles.services import LEAST_LIMIT_S, LIMIT_S
from dressage.runs.needs import references, reward_versions
from trainer_core.link.bundle import Bundle, DatasetRef, PolicyRef
from trainer_core.link.profile import ProfileJob, ProfilePlan, ProfileProgress
from trainer_core.spec import RunSpec


class ProfileRowDocument(TypedDict):
    """A profile as lists show it."""

    id: str
    state: Annotated[str, OneOf(ProfileState)]
    error: str | None
    """Reason it failed, and what to do."""
    version: str
    """The version whose rows are sampled: ``slug@number``."""
    policy: str
    reward: str
    threshold: float
    """Minimum reward at which an answer counts as right."""
    plan: ProfilePlan
    progress: ProfileProgress | None
    cluster: str | None
    """The cluster that people chose for it; null: the platform chooses."""
    placed_on: str | None
    """The cluster on which it was given its slot; null before that."""
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    created_by: str


class ProfileDocument(ProfileRowDocument):
    """A profile with its spec and, once it is done, its report."""

    spec: Annotated[dict[str, Any], Stored(RunSpec)]
    ahead: int
    """Profiles ahead of it while it waits for its slot on the cluster."""
    report: ProfileReport | None


def profile_row(profile: Profile) -> ProfileRowDocument:
    """A profile as lists show it."""
    return {
        "id": profile.id,
        "state": profile.state,
        "error": profile.error,
        "version": profile.version.ref,
        "policy": profile.spec["policy"]["base"],
        "reward": profile.spec["reward"]["definition"],
        "threshold": profile.threshold,
        "plan": profile.plan,
        "progress": profile.progress,
        "cluster": profile.cluster or None,
        "placed_on": profile.placed_on or None,
        "created_at": iso(profile.created_at),
        "started_at": iso(profile.started_at),
        "finished_at": iso(profile.finished_at),
        "created_by": profile.created_by,
    }


def profile_document(profile: Profile) -> ProfileDocument:
    """A profile as the API shows it."""
    ahead = ahead_of(profile)
    return {**profile_row(profile), "spec": profile.spec, "ahead": ahead, "report": profile.report}


def job_for_worker(profile: Profile) -> ProfileJob:
    """A profile in the form sent to its worker, with the keys of judges: only for the link.

    Raises:
        Problem: 422 if a reference is gone.
    """
    spec = RunSpec.model_validate(profile.spec)
    found = references.require(profile.team, spec)
    assert found.policy is not None
    bundle = Bundle(
        run_id=profile.id,
        attempt=1,
        spec=spec,
        revision=0,
        policy=PolicyRef(name=found.policy.slug, path=Path(found.policy.path)),
        teacher=None if found.teacher is None else PolicyRef(name=found.teacher.slug, path=Path(found.teacher.path)),
        **reward_versions.bundle_parts(profile.team, spec, found.reward),
        datasets={
            ref: DatasetRef(
                url=f"/api/v1/link/profiles/{profile.id}/datasets/{ref}", sha256=version.sha256, rows=version.rows
            )
            for ref, version in found.datasets.items()
        },
        run_dir=Path(profile.id),  # the worker creates its own folder
    )
    return ProfileJob(
        id=profile.id,
        bundle=bundle,
        plan=ProfilePlan.model_validate(profile.plan),
        threshold=profile.threshold,
        done=tuple(selectors.handed_in(profile).values()),
        batches=profile.batches,
        limit_s=max(LEAST_LIMIT_S, LIMIT_S - selectors.sampled_seconds(profile)),
        lease_s=profile.lease_s,
    )
