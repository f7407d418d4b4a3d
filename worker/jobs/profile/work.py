"""The work of one profile: sets up a folder and a platform, submits batches, and reports the end."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from ray.exceptions import RayError

from trainer_core.link.jobs import PROFILE, JobKind
from trainer_core.link.profile import ProfileBatch, ProfileJob, ProfileProgress, ProfileResult
from worker.errors import ClusterError, RolloutError, StartError
from worker.jobs.profile.sampling import sample_rows
from worker.jobs.rehearsal.hold import Deadline
from worker.jobs.work import JobWork, WorkerLost
from worker.link.platform import Platform, parse_bundle


class ProfileWork(JobWork[ProfileJob]):
    """Makes one profile, continuing where an earlier worker stopped."""

    kind: ClassVar[JobKind] = PROFILE

    _phase = "loading"

    def _read(self, document: dict[str, Any]) -> ProfileJob:
        """Implements ``JobWork._read``; the bundle is validated like that of a run."""
        bundle = parse_bundle(document["bundle"]) if isinstance(document.get("bundle"), dict) else None
        return ProfileJob.model_validate({**document, "bundle": bundle})

    def _failure(self, reason: str) -> ProfileResult:
        """Implements ``JobWork._failure``."""
        return ProfileResult(error=reason)

    def _result(self, job: ProfileJob) -> ProfileResult:
        """The outcome of sampling, or the reason why it failed.

        Raises:
            WorkerLost: the engine was lost after batches were submitted: another worker continues after them.
        """
        self._tell(ProfileProgress(phase="loading"), at_once=False)
        folder = Path(tempfile.mkdtemp(prefix="dressage-profile-"))  # for what a run stores next to its checkpoints
        platform, link = Platform(self._url, self._token, job.id), self._open_link()

        handed_in = 0

        def hand_in(batch: ProfileBatch) -> None:
            nonlocal handed_in
            link.hand_in("batches", batch)
            handed_in += 1

        try:
            bundle = job.bundle.model_copy(update={"run_dir": folder})
            deadline = Deadline(job.limit_s, self.kind.title)
            return sample_rows(job.model_copy(update={"bundle": bundle}), platform, deadline, self._note, hand_in)
        except (StartError, ClusterError, RolloutError, RayError) as error:
            if handed_in and not isinstance(error, StartError):
                raise WorkerLost(f"lost after {handed_in} batches: {error}") from error
            return ProfileResult(error=str(error) or type(error).__name__)
        finally:
            platform.close()
            link.close()
            shutil.rmtree(folder, ignore_errors=True)

    def _note(self, progress: ProfileProgress) -> None:
        """Report the progress; a new phase immediately."""
        changed, self._phase = progress.phase != self._phase, progress.phase
        self._tell(progress, at_once=changed)
