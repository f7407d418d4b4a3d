"""The worker of one bench job: a Ray actor around its work, gone when that is done."""

from __future__ import annotations

import os
import threading

import ray

from worker.bench.work import BenchWork
from worker.cluster.private_files import keep_new_files_private


class BenchWorker:
    """Detached, named after the job. The work is done in a thread, so that ``ping`` is answered."""

    def __init__(self, job_id: str) -> None:
        keep_new_files_private()
        self._job_id = job_id
        self._begun = False
        self._myself = ray.get_runtime_context().current_actor

    def begin(self, link_url: str, token: str) -> bool:
        """Begin to work. False: it has begun before."""
        if self._begun:
            return False
        self._begun = True
        work = BenchWork(self._job_id, link_url, token, fenced=self._end)
        threading.Thread(target=self._main, args=(work,), name="bench", daemon=True).start()
        return True

    def ping(self) -> int:
        """The process."""
        return os.getpid()

    def _main(self, work: BenchWork) -> None:
        try:
            work.run()
        finally:
            self._end()

    def _end(self) -> None:
        """End this process, and with it the jails, and the judges' engines that it has started."""
        ray.kill(self._myself, no_restart=True)
