"""The worker of one profile: a Ray actor around its work."""

from collections.abc import Callable

from worker.link.job_actor import JobActor
from worker.profile.work import ProfileWork


class ProfileWorker(JobActor):
    """Detached, named after the profile. Its engine and its reward worker end with it."""

    def _work(self, link_url: str, token: str, fenced: Callable[[], object]) -> None:
        ProfileWork(self._job_id, link_url, token, fenced).run()
