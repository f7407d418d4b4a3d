"""The work of one rehearsal: sets up a folder and a platform, and reports."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError
from ray.exceptions import RayError

from trainer_core.link.base import first_fault
from trainer_core.link.jobs import REHEARSAL, JobKind
from trainer_core.link.rehearsal import RehearsalJob, RehearsalProgress, RehearsalReport, RehearsalResult
from worker.errors import ClusterError, RolloutError, StartError
from worker.jobs.rehearsal.hold import Deadline, hold
from worker.jobs.work import JobWork
from worker.link.platform import Platform, parse_bundle


class RehearsalWork(JobWork[RehearsalJob]):
    """Holds one rehearsal."""

    kind: ClassVar[JobKind] = REHEARSAL

    _phase = "loading"

    def _read(self, document: dict[str, Any]) -> RehearsalJob:
        """Implements ``JobWork._read``; the bundle is validated like that of a run."""
        bundle = parse_bundle(document["bundle"]) if isinstance(document.get("bundle"), dict) else None
        return RehearsalJob.model_validate({**document, "bundle": bundle})

    def _failure(self, reason: str) -> RehearsalResult:
        """Implements ``JobWork._failure``."""
        return RehearsalResult(error=reason)

    def _result(self, job: RehearsalJob) -> RehearsalResult:
        """The report, or the reason why there is none."""
        self._tell(RehearsalProgress(phase="loading"), at_once=False)
        try:
            return RehearsalResult(report=self._report(job))
        except (StartError, ClusterError, RolloutError, RayError) as error:
            return RehearsalResult(error=str(error) or type(error).__name__)
        except ValidationError as error:
            where, fault = first_fault(error)
            return RehearsalResult(error=f"The results cannot be reported: {fault} (at {where})")

    def _report(self, job: RehearsalJob) -> RehearsalReport:
        folder = Path(tempfile.mkdtemp(prefix="dressage-rehearsal-"))  # for what a run stores next to its checkpoints
        platform = Platform(self._url, self._token, job.id)
        try:
            bundle = job.bundle.model_copy(update={"run_dir": folder})
            return hold(job.model_copy(update={"bundle": bundle}), platform, Deadline(job.limit_s), self._note)
        finally:
            platform.close()
            shutil.rmtree(folder, ignore_errors=True)

    def _note(self, progress: RehearsalProgress) -> None:
        """Report the progress; a new phase immediately."""
        changed, self._phase = progress.phase != self._phase, progress.phase
        self._tell(progress, at_once=changed)
