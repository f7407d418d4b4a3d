"""Steps after each stage: start the next one, or create the version. A sweep runs them every two seconds."""

import structlog
from django.db import transaction
from django.utils import timezone

from dressage.cluster_jobs.models import OPEN
from dressage.common.api.problems import Problem
from dressage.profiles.goldilocks.asked import AskedGoldilocks
from dressage.profiles.goldilocks.stages import begin_stage
from dressage.profiles.goldilocks.store import store_version
from dressage.profiles.models import GOLDILOCKS_OPEN, Goldilocks, GoldilocksState, Profile, ProfileState

logger = structlog.get_logger(__name__)
_WORDS = {GoldilocksState.FIRST: "Stage one", GoldilocksState.SECOND: "Stage two"}


def sweep_goldilocks() -> None:
    """One round. A failure of one goldilocks does not stop the rest."""
    for job_id in list(Goldilocks.objects.filter(state__in=GOLDILOCKS_OPEN).values_list("pk", flat=True)):
        try:
            if _advance(job_id):
                store_version(Goldilocks.objects.select_related("version__dataset", "team").get(pk=job_id))
        except Exception:
            logger.exception("a goldilocks could not be swept", job=job_id)


@transaction.atomic
def _advance(job_id: str) -> bool:
    """Start the next stage, or end a goldilocks that cannot continue. Returns whether all stages are done."""
    found = Goldilocks.objects.select_for_update(of=("self",), skip_locked=True)
    job = found.select_related("version__dataset", "team").filter(pk=job_id, state__in=GOLDILOCKS_OPEN).first()
    if job is None:
        return False
    profile: Profile = Profile.objects.defer(*Profile.large).get(pk=job.second_id or job.first_id)
    if profile.state in OPEN:
        return False
    words = _WORDS[GoldilocksState(job.state)]
    if profile.state == ProfileState.CANCELLED:
        _fail(job, f"{words} was stopped: its profile was cancelled. Start again; finished work costs nothing.")
        return False
    if profile.state == ProfileState.FAILED:
        _fail(job, f"{words} has failed: {profile.error or 'its worker gave no reason.'}")
        return False
    asked = AskedGoldilocks.model_validate(job.asked)
    if job.second_id is not None or asked.second is None:
        return True
    try:
        begin_stage(job, asked, "second")
    except Problem as problem:
        if problem.status != 429:  # 429: too many profiles of the team are open, so the next round tries again
            _fail(job, f"Stage two could not begin: {problem.detail}")
    return False


def _fail(job: Goldilocks, reason: str) -> None:
    job.state, job.error, job.finished_at = GoldilocksState.FAILED, reason[:2000], timezone.now()
    job.save(update_fields=["state", "error", "finished_at"])
