"""The differences between kinds of cluster jobs. Everything else, from the token to the sweep, is shared code."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar, Generic, Literal

from dressage.cluster_jobs.life import fail
from dressage.cluster_jobs.models import ClusterJob, J
from dressage.datasets.versions.pins import Pin
from dressage.teams.models import Team
from trainer_core.link.base import Message
from trainer_core.link.jobs import JobKind


class ClusterKind(ABC, Generic[J]):
    """One kind, as the platform sees it. ``registry.register`` adds its link routes, its sweep, and its pins."""

    model: ClassVar[type[ClusterJob]]
    names: ClassVar[JobKind]
    progress: ClassVar[type[Message] | None] = None
    """Message that a worker may send with each renewal of its lease."""
    claim_limit_s: ClassVar[float] = 600.0
    """Seconds after which a job that no worker has claimed fails."""
    claimed: ClassVar[str]
    """Noun for what a worker claims, for the message about it."""
    limit_s: ClassVar[float | None] = None
    """Seconds after which a job fails, counted from its first worker."""
    too_late: ClassVar[str] = ""
    """The message for that failure."""
    max_tries: ClassVar[int] = 3
    """Number of lost workers after which a job fails."""
    lost_while: ClassVar[str]
    """End of the message "3 workers were lost while they …"."""

    @abstractmethod
    def message(self, job: J) -> Message:
        """The job in the form sent to its worker. Raises Problem if a worker can no longer do it."""

    @abstractmethod
    def take_result(self, job_id: str, answer: Any) -> J:
        """Validate and store a worker's answer; the first one counts. Raises Problem."""

    def requests(self) -> Mapping[str, Callable[[str, Any], Message]]:
        """Further requests of a worker, by the last part of their URL: functions from (id, body) to the answer."""
        return {}

    def versions(self, job: J) -> Collection[str]:
        """Dataset versions, ``slug@number``, whose files its worker may read."""
        return ()

    def give_up(self, job: J, why: Literal["lost", "time"], reason: str) -> object:
        """End a job that no worker continues. The caller has locked its row."""
        return fail(job, reason)

    def sweep(self) -> None:
        """Additional steps of this kind's sweep. Must be safe to repeat, and to run twice in parallel."""

    def pins(self, team: Team, refs: Collection[str]) -> Iterator[Pin]:
        """The team's open jobs that need one of the versions."""
        yield from ()
