"""Kinds of jobs that a cluster works on for the platform: the names that both use for them."""

from typing import Final, NamedTuple

from trainer_core.link.base import Message


class JobKind(NamedTuple):
    """One kind of job."""

    name: str
    """Prefix of the names of its actors."""
    title: str
    """What logs and error messages call such a job."""
    path: str
    """Part of its addresses on the link, which were published under these names."""
    task: str
    """Celery task that starts a worker: ``job_id, link_url``."""

    def address(self, job_id: str) -> str:
        """Path of a job on the link."""
        return f"/api/v1/link/{self.path}/{job_id}"

    def token_address(self, job_id: str) -> str:
        """Path at which a worker asks for the job's token."""
        return f"{self.address(job_id)}/token"

    def actor(self, job_id: str) -> str:
        """Name of the job's actor. Names of the actors that it starts begin with it and a slash."""
        return f"{self.name}-{job_id}"


BENCH: Final = JobKind("bench", "bench job", "bench", "worker.tasks.bench")
REHEARSAL: Final = JobKind("rehearsal", "rehearsal", "rehearsals", "worker.tasks.rehearse")
PROFILE: Final = JobKind("profile", "profile", "profiles", "worker.tasks.profile")
SERVING: Final = JobKind("serving", "serving", "servings", "worker.tasks.serve")
JOB_KINDS: Final = (BENCH, REHEARSAL, PROFILE, SERVING)


class JobLease(Message):
    """The answer to a renewal."""

    lease_s: float
    """Seconds until the platform believes a worker dead that does not ask again."""
