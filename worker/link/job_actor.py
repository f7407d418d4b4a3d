"""The worker of one job: a Ray actor around its work, gone when that is done."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

import ray

from worker.cluster.private_files import keep_new_files_private


class JobActor(ABC):
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
        threading.Thread(target=self._main, args=(link_url, token), name="job", daemon=True).start()
        return True

    def ping(self) -> int:
        """The process."""
        return os.getpid()

    @abstractmethod
    def _work(self, link_url: str, token: str, fenced: Callable[[], object]) -> None:
        """Do the work. ``fenced`` is to be called once nobody waits for the result any more."""

    def _main(self, link_url: str, token: str) -> None:
        try:
            self._work(link_url, token, self._end)
        finally:
            self._end()

    def _end(self) -> None:
        """End this process, and with it the jails, and the engines that it has started."""
        ray.kill(self._myself, no_restart=True)
