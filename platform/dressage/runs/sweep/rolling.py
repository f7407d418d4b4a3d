"""Rolls up the metrics of long runs in the background; see ``telemetry.rollups``."""

import time

import structlog
from django.db import connection, transaction

from dressage.runs.models import Attempt, Run
from dressage.telemetry.rollups import WIDTH, roll_up

logger = structlog.get_logger(__name__)

LONGEST_S = 20.0
"""Seconds after which the rest is left to the next sweep."""
_BEHIND = """
    SELECT a.id FROM runs_attempt a LEFT JOIN telemetry_rolledup r ON r.run_id = a.run_id AND r.attempt = a.number
    WHERE a.last_step + 1 >= coalesce(r.until, a.resume_step) + 2 * %s ORDER BY a.id
"""


def roll_up_all() -> None:
    """Roll up the complete parts of all attempts, in portions. A failure of one does not stop the others."""
    until = time.monotonic() + LONGEST_S
    with connection.cursor() as cursor:
        cursor.execute(_BEHIND, [WIDTH])
        behind = [attempt for (attempt,) in cursor.fetchall()]
    for attempt in behind:
        try:
            while _portion(attempt):
                if time.monotonic() > until:
                    return
        except Exception:
            logger.exception("metrics are not rolled up", attempt=attempt)


def _portion(attempt_id: int) -> bool:
    """Roll up one portion under the run's lock, so that no point is added meanwhile. Returns whether there is more."""
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).only("pk").filter(attempts=attempt_id).first()
        if run is None:  # deleted in the meantime
            return False
        attempt = Attempt.objects.get(pk=attempt_id)
        return roll_up(run.pk, attempt.number, attempt.resume_step, attempt.last_step)
