"""The work of one job: fetch it, keep its lease, answer."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import ValidationError

from trainer_core.link.base import Message, first_fault
from trainer_core.link.jobs import JobKind
from worker.errors import FencedError, StartError
from worker.jobs.link import JobLink, NotUnderstood

log = logging.getLogger(__name__)


class WorkerLost(RuntimeError):
    """This worker cannot continue, but another may. No answer is sent, so that the platform requests another worker."""


class JobMessage(Protocol):
    """Members of every job's message."""

    @property
    def id(self) -> str:
        """Id of the job."""

    @property
    def lease_s(self) -> float:
        """Seconds without a request after which the platform considers a worker dead."""


J = TypeVar("J", bound=JobMessage)


class JobWork(ABC, Generic[J]):
    """One job, worked on once. Each kind defines how its job is read and what its result is."""

    kind: ClassVar[JobKind]

    def __init__(self, job_id: str, link_url: str, token: str, fenced: Callable[[], object]) -> None:
        """``fenced`` is called in another thread once the result is no longer wanted, to end the work."""
        self._job_id, self._url, self._token, self._fenced = job_id, link_url, token, fenced
        self._progress: Message | None = None
        self._over = threading.Event()
        self._told = threading.Event()

    @abstractmethod
    def _read(self, document: dict[str, Any]) -> J:
        """The job in the platform's document. Raises ValidationError, or StartError with the complete reason."""

    @abstractmethod
    def _result(self, job: J) -> Message:
        """The result, or the reason why there is none. An exception is also answered as a reason.

        Raises:
            FencedError: another worker has the job by now. No answer is sent, as it would end the job for that worker.
            WorkerLost: another worker may continue.
        """

    @abstractmethod
    def _failure(self, reason: str) -> Message:
        """The answer of a job without a result."""

    def run(self) -> None:
        """Fetch, work, answer. Failures are reported to the platform, or logged if it does not accept them."""
        try:
            self._attend()
        except (FencedError, WorkerLost) as error:
            log.warning("%s %s: %s", self.kind.title, self._job_id, error)
        except Exception:
            log.exception("%s %s", self.kind.title, self._job_id)
        finally:
            self._over.set()
            self._told.set()

    def _tell(self, progress: Message, *, at_once: bool) -> None:
        """Send ``progress`` with the next renewal of the lease, or now."""
        self._progress = progress
        if at_once:
            self._told.set()

    def _attend(self) -> None:
        """Process the job from fetch to answer."""
        link = self._open_link()
        try:
            document = link.fetch()
            if link.objection is not None:
                link.answer(self._failure(link.objection))
                return
            try:
                job = self._read(document)
            except StartError as error:
                link.answer(self._failure(str(error)))
                return
            except ValidationError as error:
                where, fault = first_fault(error)
                link.answer(self._failure(f"The {self.kind.title} is not valid here: {fault} (at {where})"))
                return
            threading.Thread(target=self._keep_lease, args=(job.lease_s / 3,), name="lease", daemon=True).start()
            link.answer(self._result_or_failure(job))
        finally:
            link.close()

    def _result_or_failure(self, job: J) -> Message:
        try:
            return self._result(job)
        except NotUnderstood as error:
            return self._failure(str(error))
        except (FencedError, WorkerLost):
            raise
        except Exception as error:
            log.exception("%s %s", self.kind.title, job.id)
            return self._failure(f"{type(error).__name__}: {error}")

    def _keep_lease(self, every_s: float) -> None:
        link = self._open_link()
        try:
            while True:
                self._told.wait(every_s)
                self._told.clear()
                if self._over.is_set():
                    return
                link.renew(self._over.is_set, self._progress)
        except FencedError as error:
            if not self._over.is_set():
                log.warning("%s %s: %s", self.kind.title, self._job_id, error)
                self._fenced()
        finally:
            link.close()

    def _open_link(self) -> JobLink:
        return JobLink(self._url, self._token, self.kind.address(self._job_id), self.kind.title)
