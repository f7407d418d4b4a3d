"""The worker of one job: a Ray actor around its work, which ends when the work is done."""

from __future__ import annotations

import os
import threading
from pkgutil import resolve_name
from typing import Final

import ray

from worker.cluster.private_files import keep_new_files_private
from worker.jobs.work import JobWork

WORK: Final = {
    "bench": "worker.jobs.bench.work:BenchWork",
    "rehearsal": "worker.jobs.rehearsal.work:RehearsalWork",
    "profile": "worker.jobs.profile.work:ProfileWork",
    "serving": "worker.jobs.serving.work:ServingWork",
}
"""The work of each kind, by name. Imported only in the actor: a bench job does not need an engine's packages."""


class JobWorker:
    """Detached actor named after the job. The work runs in a thread, so that ``ping`` is answered."""

    def __init__(self, job_id: str, kind: str) -> None:
        keep_new_files_private()
        self._job_id, self._kind = job_id, kind
        self._begun = False
        self._myself = ray.get_runtime_context().current_actor

    def begin(self, link_url: str, token: str) -> bool:
        """Begin to work. False: it has already begun."""
        if self._begun:
            return False
        self._begun = True
        threading.Thread(target=self._main, args=(link_url, token), name="job", daemon=True).start()
        return True

    def ping(self) -> int:
        """Process id of the worker."""
        return os.getpid()

    def _main(self, link_url: str, token: str) -> None:
        try:
            work: type[JobWork] = resolve_name(WORK[self._kind])
            work(self._job_id, link_url, token, self._end).run()
        finally:
            self._end()

    def _end(self) -> None:
        """End this process, and with it the jails and the engines that it has started."""
        ray.kill(self._myself, no_restart=True)
