"""Releases: a paused run gives its slot back after some time, once a checkpoint holds everything it needs to continue.

Its worker is asked with every sync, saves the run, and reports it as suspended. A worker of an earlier release ignores
that: it is asked for a checkpoint in the old way, and given up once the checkpoint exists. A run is never given up
without one.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from dressage.runs.life.lifecycle import transition
from dressage.runs.life.services import ask_for_place
from dressage.runs.models import Attempt, CheckpointRequest, Run
from dressage.runs.recovery.attempts import RECONCILER, fence, resume_point
from dressage.runs.states import By, DesiredState, RunState
from trainer_core.link.events import PLACE_GIVEN_BACK

logger = structlog.get_logger(__name__)

RELEASE_LIMIT_S = 120
"""Seconds after which a worker that was asked for its slot, and has not confirmed that it will give it back, is assumed
to be unable to."""
RELEASING_LIMIT_S = 7200
"""Seconds after which a worker that has confirmed it is given up. It first waits for an evaluation in progress, whose
result would otherwise be lost."""


def take_places_back(now: datetime) -> None:
    """Ask paused runs whose time is over for their slots, and handle workers that do not understand the request.

    Args:
        now: the time by which pauses are measured.
    """
    standing = Run.objects.filter(state=RunState.PAUSED, desired_state=DesiredState.PAUSED)
    since = now - timedelta(seconds=settings.PAUSE_KEEPS_PLACE_S)
    over = standing.filter(paused_at__lte=since, release_asked_at=None)
    _each(over, lambda run: ask_for_place(run, "The platform", now))
    releasing = Attempt.objects.filter(run=OuterRef("pk"), number=OuterRef("attempt"), releasing_at__isnull=False)
    late, too_late = (now - timedelta(seconds=limit) for limit in (RELEASE_LIMIT_S, RELEASING_LIMIT_S))
    cannot = Q(release_asked_at__lte=late) & ~Exists(releasing)
    _each(standing.filter(cannot | Q(release_asked_at__lte=too_late)), _take_from)


def gives_back(run: Run) -> bool:
    """Whether the run's worker should save it and give its slot back."""
    stands = run.state == RunState.PAUSED and run.desired_state == DesiredState.PAUSED
    return stands and run.release_asked_at is not None


def suspend_lost(run: Run, attempt: Attempt) -> None:
    """Suspend a locked run whose attempt was lost while it was about to give its slot back anyway."""
    why = f"attempt {attempt.number} was lost before it had saved the run"
    fence(attempt, why)
    step = resume_point(run)[0]
    safe = PLACE_GIVEN_BACK if step == run.step else f"Its slot was released; {why}. It continues from step {step}."
    _suspend(run, safe)


def _take_from(run: Run) -> None:
    """Give the attempt up if the state at which the run paused is saved; otherwise request a checkpoint."""
    step, checkpoint = resume_point(run)
    if checkpoint is not None and step == run.step:
        fence(run.attempts.get(number=run.attempt), "did not release its slot")
        _suspend(run, PLACE_GIVEN_BACK)
    elif not run.checkpoint_requests.filter(closed_at=None).exists():
        CheckpointRequest.objects.create(run=run, actor=RECONCILER.label)


def _suspend(run: Run, reason: str) -> None:
    transition(run, RunState.SUSPENDED, by=By.PLATFORM, actor=RECONCILER, reason=reason)


def _each(found: QuerySet[Run], act: Callable[[Run], None]) -> None:
    """Apply ``act`` to each run that still matches once it is locked. A failure does not stop the rest."""
    for run_id in list(found.values_list("pk", flat=True)):
        try:
            with transaction.atomic():
                run = found.select_for_update(of=("self",)).filter(pk=run_id).first()
                if run is not None:
                    act(run)
        except Exception:
            logger.exception("release failed", run=run_id)
