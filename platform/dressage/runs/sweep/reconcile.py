"""Compares actual and desired state every two seconds. Idempotent; several may run; each run is a transaction.

The database contains everything that a message could have said, so a lost message, a killed worker or a killed
reconciler only causes a delay.
"""

from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta

import httpx
import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from dressage.runs.enqueue import enqueue_check, enqueue_start
from dressage.runs.life.lifecycle import transition
from dressage.runs.life.quota import keep_gpu_hours
from dressage.runs.link.pace import pace
from dressage.runs.models import Attempt, Run, Sweep
from dressage.runs.recovery.attempts import QUIET_S, RECONCILER, fence, replace
from dressage.runs.recovery.guard_acts import open_roll_backs, roll_back
from dressage.runs.recovery.releases import gives_back, suspend_lost, take_places_back
from dressage.runs.states import ACTIVE, By, DesiredState, RunState
from dressage.runs.sweep.admission import fill_places

logger = structlog.get_logger(__name__)

ENQUEUE_AGAIN_S = 10
"""Seconds without a first sync after which an attempt is enqueued again."""
FIRST_SYNC_LIMIT_S = 300
"""Seconds without a first sync after which an attempt is replaced."""
CANCEL_LIMIT_S = 30
"""Seconds after which a worker that has not obeyed a cancellation is killed."""
ABSENCE_S = 10
"""Seconds since the last sweep after which expired leases are blamed on the platform's own absence."""
ASK_AGAIN_S = 4
"""Seconds between two questions to the cluster whether a silent worker lives."""
SILENCE_S = 5
"""Seconds of silence of a worker, beyond the requested pace, after which the sweep checks the link."""
GRACE_S = 30
"""Seconds by which such leases are extended: longer than a worker's longest back-off (15 s)."""


def sweep() -> None:
    """One round."""
    away = _forgive_absence()
    _each(_expired(), _lose)
    _each(_disobeyed(), _force_cancel)
    _each(_silent(), _enqueue_again)
    if not away:
        _ask_about_quiet()
    _roll_back()
    keep_gpu_hours(timezone.now())
    take_places_back(timezone.now())
    fill_places()


def _roll_back() -> None:
    """Carry out the roll backs that guards have requested. A failure does not stop the rest."""
    for run_id, guard in open_roll_backs():
        try:
            roll_back(run_id, guard)
        except Exception:
            logger.exception("roll back failed", run=run_id, guard=guard)


def _each(found: QuerySet[Attempt], act: Callable[[Run, Attempt], None]) -> None:
    """Apply ``act`` to each attempt that still matches once its run is locked. A failure does not stop the rest."""
    for attempt_id, run_id in list(found.values_list("id", "run_id")):
        try:
            with transaction.atomic():
                run = Run.objects.select_for_update(of=("self",)).get(pk=run_id)
                attempt = found.filter(pk=attempt_id).first()
                if attempt is not None:
                    act(run, attempt)
        except Exception:
            logger.exception("reconcile failed", run=run_id)


def _current() -> QuerySet[Attempt]:
    """The newest attempt of each active run, unless it has been given up."""
    return Attempt.objects.filter(run__state__in=ACTIVE, number=F("run__attempt"), fenced=False)


def _expired() -> QuerySet[Attempt]:
    never = Q(first_sync_at=None, created_at__lt=Now() - timedelta(seconds=FIRST_SYNC_LIMIT_S))
    return _current().filter(Q(lease_expires_at__lt=Now()) | never)


def _disobeyed() -> QuerySet[Attempt]:
    since = Now() - timedelta(seconds=CANCEL_LIMIT_S)
    return _current().filter(run__desired_state=DesiredState.CANCELLED, run__desired_since__lt=since)


def _silent() -> QuerySet[Attempt]:
    enqueued = Now() - timedelta(seconds=ENQUEUE_AGAIN_S)
    return _current().filter(Q(rung_at__lt=enqueued) | Q(rung_at=None), first_sync_at=None)


def _quiet() -> QuerySet[Attempt]:
    """Attempts that were heard of and now are not, and about which the cluster was not asked just before."""
    since, asked = (Now() - timedelta(seconds=seconds) for seconds in (QUIET_S + pace.seconds(), ASK_AGAIN_S))
    return _current().filter(Q(rung_at__lt=asked) | Q(rung_at=None), last_sync_at__lt=since, end_reason="")


def _lose(run: Run, attempt: Attempt) -> None:
    if gives_back(run):
        suspend_lost(run, attempt)
    elif attempt.end_reason:
        reason = attempt.end_reason.rstrip(".")
        replace(run, attempt, f"attempt {attempt.number} was lost after step {attempt.last_step}: {reason}")
    elif attempt.first_sync_at is None:
        replace(run, attempt, f"attempt {attempt.number} never answered")
    else:
        replace(run, attempt, f"attempt {attempt.number} lost its lease after step {attempt.last_step}")


def _force_cancel(run: Run, attempt: Attempt) -> None:
    fence(attempt, "did not respond to the cancellation")
    reason = "cancelled; the worker did not answer and was killed"
    transition(run, RunState.CANCELLED, by=By.PLATFORM, actor=RECONCILER, reason=reason)


def _enqueue_again(run: Run, attempt: Attempt) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(rung_at=Now())
    enqueue_start(run.id, attempt.number, attempt.cluster)


@transaction.atomic
def _ask_about_quiet() -> None:
    """Ask each cluster about all of its silent workers at once: their number may be that of all active runs."""
    found = _quiet().order_by("id").select_for_update(of=("self",), skip_locked=True)
    asked: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in found:
        asked[attempt.cluster].append(attempt)
    for cluster, attempts in asked.items():
        Attempt.objects.filter(pk__in=[attempt.pk for attempt in attempts]).update(rung_at=Now())
        enqueue_check(cluster, [(attempt.run_id, attempt.number) for attempt in attempts])


def _forgive_absence() -> bool:
    """Extend leases that could not be renewed because the platform was away, or because its web server is. Returns
    whether one was.

    The time of the last sweep reveals an absence of the reconciler itself. Whether workers can reach the link is only
    checked if one of them has been silent.
    """
    with transaction.atomic():
        Sweep.objects.get_or_create(pk=1, defaults={"at": Now()})
        last = Sweep.objects.select_for_update().annotate(now=Now()).get(pk=1)
        absent = (last.now - last.at).total_seconds() > ABSENCE_S
        Sweep.objects.filter(pk=1).update(at=Now())
        if absent:
            _extend_leases()
    worried = _current().filter(last_sync_at__lt=Now() - timedelta(seconds=SILENCE_S + pace.seconds()))
    if not absent and worried.exists() and not link_answers():
        _extend_leases()
        return True
    return absent


def _extend_leases() -> None:
    until = Now() + timedelta(seconds=GRACE_S)
    _current().filter(end_reason="", lease_expires_at__isnull=False, lease_expires_at__lt=until).update(
        lease_expires_at=until
    )


def link_answers() -> bool:
    """Whether the web server answers at the URL that workers use."""
    try:
        return httpx.get(f"{settings.LINK_URL}/api/v1/session", timeout=2.0).status_code < 500
    except httpx.HTTPError:
        return False
