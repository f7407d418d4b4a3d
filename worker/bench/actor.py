"""The worker of one bench job: a Ray actor around its work, gone when that is done."""

from __future__ import annotations

import os
import threading

import ray

from worker.bench.work import BenchWork


class BenchWorker:
    """Detached, named after the job. The work is done in a thread, so that ``ping`` is answered."""

    def __init__(self, job_id: str, link_url: str, token: str) -> None:
        self._work = BenchWork(job_id, link_url, token, fenced=self._end)
        self._myself = ray.get_runtime_context().current_actor
        threading.Thread(target=self._main, name="bench", daemon=True).start()

    def ping(self) -> int:
        """The process."""
        return os.getpid()

    def _main(self) -> None:
        try:
            self._work.run()
        finally:
            self._end()

    def _end(self) -> None:
        """End this process, and with it the jails, and the judges' engines that it has started."""
        ray.kill(self._myself, no_restart=True)
