"""The work of one rehearsal: fetch it, hold it, answer."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ray.exceptions import RayError

from trainer_core.link.base import first_fault
from trainer_core.link.rehearsal import RehearsalJob, RehearsalProgress, RehearsalReport, RehearsalResult
from worker.errors import ClusterError, FencedError, RolloutError, StartError
from worker.link.jobs import JobLink
from worker.link.platform import Platform, parse_bundle
from worker.rehearsal.hold import Deadline, hold

log = logging.getLogger(__name__)


class RehearsalWork:
    """One rehearsal, worked on once."""

    def __init__(self, job_id: str, link_url: str, token: str, fenced: Callable[[], object]) -> None:
        """``fenced`` is called, in another thread, once nobody waits for the result any more: it shall end the work."""
        self._job_id, self._url, self._token, self._fenced = job_id, link_url, token, fenced
        self._progress = RehearsalProgress(phase="loading")
        self._over = threading.Event()
        self._told = threading.Event()

    def run(self) -> None:
        """Fetch, hold, answer. Whatever goes wrong is told to the platform, or logged where it does not listen."""
        try:
            self._attend()
        except FencedError as error:
            log.warning("rehearsal %s: %s", self._job_id, error)
        except Exception:
            log.exception("rehearsal %s", self._job_id)
        finally:
            self._over.set()
            self._told.set()

    def _attend(self) -> None:
        link = self._open_link()
        try:
            document = link.fetch()
            if link.objection is not None:
                link.answer(RehearsalResult(error=link.objection))
                return
            try:
                job = RehearsalJob.model_validate({**document, "bundle": _bundle(document)})
            except StartError as error:
                link.answer(RehearsalResult(error=str(error)))
                return
            except ValidationError as error:
                where, fault = first_fault(error)
                link.answer(RehearsalResult(error=f"The rehearsal is not valid here: {fault} (at {where})"))
                return
            threading.Thread(target=self._keep_lease, args=(job.lease_s / 3,), name="lease", daemon=True).start()
            link.answer(self._result(job))
        finally:
            link.close()

    def _result(self, job: RehearsalJob) -> RehearsalResult:
        """The report, or the reason why there is none."""
        try:
            return RehearsalResult(report=self._report(job))
        except (StartError, ClusterError, RolloutError, RayError) as error:
            return RehearsalResult(error=str(error) or type(error).__name__)
        except ValidationError as error:
            where, fault = first_fault(error)
            return RehearsalResult(error=f"What was seen cannot be told: {fault} (at {where})")
        except Exception as error:
            log.exception("rehearsal %s", job.id)
            return RehearsalResult(error=f"{type(error).__name__}: {error}")

    def _report(self, job: RehearsalJob) -> RehearsalReport:
        folder = Path(tempfile.mkdtemp(prefix="dressage-rehearsal-"))  # of what a run keeps beside its checkpoints
        platform = Platform(self._url, self._token, job.id)
        try:
            bundle = job.bundle.model_copy(update={"run_dir": folder})
            return hold(job.model_copy(update={"bundle": bundle}), platform, Deadline(job.limit_s), self._tell)
        finally:
            platform.close()
            shutil.rmtree(folder, ignore_errors=True)

    def _tell(self, progress: RehearsalProgress) -> None:
        """Note how far it is; a new phase is told at once."""
        changed, self._progress = progress.phase != self._progress.phase, progress
        if changed:
            self._told.set()

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
                log.warning("rehearsal %s: %s", self._job_id, error)
                self._fenced()
        finally:
            link.close()

    def _open_link(self) -> JobLink:
        return JobLink(self._url, self._token, f"/api/v1/link/rehearsals/{self._job_id}", "rehearsal")


def _bundle(document: dict[str, Any]) -> Any:
    """The bundle of a job, checked as that of a run is. Raises StartError."""
    return parse_bundle(document["bundle"]) if isinstance(document.get("bundle"), dict) else None
