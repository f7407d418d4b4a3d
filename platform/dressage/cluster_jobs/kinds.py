"""What differs between kinds of a cluster's jobs. All else, from the token to the sweep, is the same code for each."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar, Generic, Literal

from dressage.cluster_jobs.life import fail
from dressage.cluster_jobs.models import ClusterJob, J
from dressage.common.api.problems import not_found
from dressage.datasets.versions.pins import Pin
from dressage.teams.models import Team
from trainer_core.link.base import Message
from trainer_core.link.jobs import JobKind


class ClusterKind(ABC, Generic[J]):
    """One kind, as the platform sees it. ``registry.register`` gives it routes on the link, a sweep, and pins."""

    model: ClassVar[type[ClusterJob]]
    names: ClassVar[JobKind]
    progress: ClassVar[type[Message] | None] = None
    """Message that a worker may send with each renewal of its lease."""
    claim_limit_s: ClassVar[float] = 600.0
    """A job that no worker has claimed in this time has failed."""
    claimed: ClassVar[str]
    """What a worker claims, for the sentence about it."""
    limit_s: ClassVar[float | None] = None
    """A job that takes longer, from its first worker on, has failed."""
    too_late: ClassVar[str] = ""
    """The sentence about that."""
    max_tries: ClassVar[int] = 3
    """Workers that may be lost before a job has failed."""
    lost_while: ClassVar[str]
    """End of the sentence "3 workers were lost while they …"."""

    @abstractmethod
    def message(self, job: J) -> Message:
        """The job as its worker gets it. Raises Problem if a worker can no longer do it."""

    @abstractmethod
    def take_result(self, job_id: str, answer: Any) -> J:
        """Store a worker's answer, after it is validated; the first one counts. Raises Problem."""

    def requests(self) -> Mapping[str, Callable[[str, Any], Message]]:
        """Further requests of a worker, by the last part of their address: (id, body) to the answer."""
        return {}

    def versions(self, job: J) -> Collection[str]:
        """Dataset versions, ``slug@number``, whose files its worker may read."""
        return ()

    def give_up(self, job: J, why: Literal["lost", "time"], reason: str) -> object:
        """End a job, whose row the caller has locked, that no worker continues."""
        return fail(job, reason)

    def sweep(self) -> None:
        """Further steps of this kind's sweep. Must be safe to repeat, and to run twice at once."""

    def pins(self, team: Team, refs: Collection[str]) -> Iterator[Pin]:
        """The team's open jobs that need one of the versions."""
        yield from ()


def job_of(model: type[J], team: Team, job_id: str) -> J:
    """One job of the team. Raises a 404 problem."""
    found: J | None = model.objects.for_team(team).filter(pk=job_id).first()
    if found is None:
        raise not_found(str(model._meta.verbose_name))
    return found
