"""Takes note of attempts whose controller the cluster has found dead."""

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from dressage.common.api.problems import conflict
from dressage.runs.link.auth import require_current
from dressage.runs.models import Attempt, Run
from dressage.runs.recovery.attempts import QUIET_S, give_up_lease


@transaction.atomic
def report_lost(attempt_id: int, reason: str) -> None:
    """Note that the cluster has found the controller of an attempt dead.

    Raises:
        Problem: 409 if the attempt is over, has not begun, or has synced in the last ``QUIET_S``. Nothing was changed.
    """
    run = Run.objects.select_for_update(of=("self",)).get(attempts=attempt_id)
    attempt = Attempt.objects.annotate(since=Now() - timedelta(seconds=QUIET_S)).get(pk=attempt_id)
    require_current(attempt, run)
    if attempt.last_sync_at is None or attempt.last_sync_at > attempt.since:
        raise conflict(f"Attempt {attempt.number} is alive, or has not begun.", code="attempt_lives")
    if not attempt.end_reason:
        give_up_lease(run, attempt, reason)
