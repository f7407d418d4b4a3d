"""Profiles as a kind of job."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar, Literal

from dressage.cluster_jobs.kinds import ClusterKind
from dressage.cluster_jobs.models import OPEN
from dressage.common.api.problems import validated
from dressage.datasets.versions.pins import Pin
from dressage.profiles.documents import job_for_worker
from dressage.profiles.goldilocks.advance import sweep_goldilocks
from dressage.profiles.models import GOLDILOCKS_OPEN, Goldilocks, Profile
from dressage.profiles.services import LIMIT_S, end_early, take_batch, take_result
from dressage.teams.models import Team
from trainer_core.link.base import Message
from trainer_core.link.jobs import PROFILE, JobKind
from trainer_core.link.profile import KeptBatches, ProfileBatch, ProfileJob, ProfileProgress, ProfileResult


class ProfileKind(ClusterKind[Profile]):
    """Difficulty of the rows of a version for a policy."""

    model = Profile
    names: ClassVar[JobKind] = PROFILE
    progress = ProfileProgress
    claimed = "the profile"
    limit_s = 2 * LIMIT_S
    too_late = f"The profile did not finish within {limit_s / 3600:g} hours. Use a smaller budget or shorter answers."
    lost_while = "sampled: the cluster may lack the memory for the engine."

    def message(self, job: Profile) -> ProfileJob:
        return job_for_worker(job)

    def take_result(self, job_id: str, answer: Any) -> Profile:
        return take_result(job_id, validated(ProfileResult, answer))

    def requests(self) -> Mapping[str, Callable[[str, Any], Message]]:
        return {"batches": _keep_batch}

    def versions(self, job: Profile) -> Collection[str]:
        return (job.version.ref,)

    def give_up(self, job: Profile, why: Literal["lost", "time"], reason: str) -> object:
        """Finish it with the samples submitted so far; without any it fails."""
        return end_early(job, why, reason)

    def sweep(self) -> None:
        """Advance the goldilocks that wait for profiles."""
        sweep_goldilocks()

    def pins(self, team: Team, refs: Collection[str]) -> Iterator[Pin]:
        """Profiles that sample one of the versions, and goldilocks between two profiles."""
        profiles = Profile.objects.for_team(team).filter(state__in=OPEN).defer(*Profile.large)
        goldilocks = Goldilocks.objects.for_team(team).filter(state__in=GOLDILOCKS_OPEN)
        for profile in profiles.select_related("version__dataset"):
            if profile.version.ref in refs:
                yield _pin("profile", profile)
        for search in goldilocks.select_related("version__dataset"):
            if search.version.ref in refs:
                yield _pin("goldilocks", search)


def _pin(kind: Literal["profile", "goldilocks"], job: Profile | Goldilocks) -> Pin:
    return {"kind": kind, "id": job.id, "name": job.id, "state": job.state, "ref": job.version.ref}


def _keep_batch(job_id: str, body: Any) -> KeptBatches:
    return KeptBatches(batches=take_batch(job_id, validated(ProfileBatch, body)).batches)
