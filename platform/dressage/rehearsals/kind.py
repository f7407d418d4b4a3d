"""Rehearsals as a kind of job."""

from collections.abc import Collection, Iterator
from typing import Any, ClassVar

from django.db.models import Q

from dressage.cluster_jobs.kinds import ClusterKind
from dressage.cluster_jobs.models import OPEN
from dressage.cluster_jobs.sweep import ago
from dressage.common.api.problems import validated
from dressage.datasets.versions.pins import Pin
from dressage.rehearsals.documents import job_for_worker
from dressage.rehearsals.models import Rehearsal
from dressage.rehearsals.services import LIMIT_S, take_result
from dressage.runs.needs.references import dataset_references
from dressage.runs.watch.dataset_pins import names_dataset
from dressage.teams.models import Team
from trainer_core.link.jobs import REHEARSAL, JobKind
from trainer_core.link.rehearsal import RehearsalJob, RehearsalProgress, RehearsalResult
from trainer_core.spec import RunSpec

SPARE_S = 60.0
"""Seconds past its limit after which a rehearsal fails, whatever its worker reports."""
KEPT_S = 7 * 86_400
"""Seconds for which rehearsals are stored."""


class RehearsalKind(ClusterKind[Rehearsal]):
    """A few graded samples of a run that has not started."""

    model = Rehearsal
    names: ClassVar[JobKind] = REHEARSAL
    progress = RehearsalProgress
    claim_limit_s = 300.0
    claimed = "the dry run"
    limit_s = LIMIT_S + SPARE_S
    too_late = f"The dry run did not finish within {LIMIT_S / 60:g} minutes. Use fewer prompts or shorter answers."
    max_tries = 2
    lost_while = "ran it: the cluster may lack the memory for its engine."

    def message(self, job: Rehearsal) -> RehearsalJob:
        return job_for_worker(job)

    def take_result(self, job_id: str, answer: Any) -> Rehearsal:
        body = validated(RehearsalResult, answer)
        return take_result(job_id, body.report, body.error)

    def versions(self, job: Rehearsal) -> Collection[str]:
        return {named for _, named in dataset_references(RunSpec.model_validate(job.spec))}

    def sweep(self) -> None:
        """Delete old rehearsals."""
        Rehearsal.objects.filter(created_at__lt=ago(KEPT_S)).delete()

    def pins(self, team: Team, refs: Collection[str]) -> Iterator[Pin]:
        """Rehearsals that read one of the versions."""
        for ref in refs:
            for found in Rehearsal.objects.for_team(team).filter(names_dataset("spec", ref), Q(state__in=OPEN)):
                yield {"kind": "rehearsal", "id": found.id, "name": found.id, "state": found.state, "ref": ref}
