"""The worker of one serving: a Ray actor around its work."""

from collections.abc import Callable

from worker.link.job_actor import JobActor
from worker.serving.work import ServingWork


class ServingWorker(JobActor):
    """Detached, named after the serving. Its engines end with it."""

    def _work(self, link_url: str, token: str, fenced: Callable[[], object]) -> None:
        ServingWork(self._job_id, link_url, token, fenced).run()
