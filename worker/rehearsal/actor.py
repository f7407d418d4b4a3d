"""The worker of one rehearsal: a Ray actor around its work."""

from collections.abc import Callable

from worker.link.job_actor import JobActor
from worker.rehearsal.work import RehearsalWork


class RehearsalWorker(JobActor):
    """Detached, named after the rehearsal. Its engine and its reward worker end with it."""

    def _work(self, link_url: str, token: str, fenced: Callable[[], object]) -> None:
        RehearsalWork(self._job_id, link_url, token, fenced).run()
