"""The worker of one bench job: a Ray actor around its work."""

from collections.abc import Callable

from worker.bench.work import BenchWork
from worker.link.job_actor import JobActor


class BenchWorker(JobActor):
    """Detached, named after the job."""

    def _work(self, link_url: str, token: str, fenced: Callable[[], object]) -> None:
        BenchWork(self._job_id, link_url, token, fenced).run()
