"""Attempts: a new one starts at the last good checkpoint; an old one is fenced. The run's row is locked."""

from itertools import takewhile

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils import timezone

from dressage.clusters import selectors as clusters
from dressage.common.actors import Actor
from dressage.common.secrets import secret_hash
from dressage.runs.enqueue import enqueue_reconcile, enqueue_start, enqueue_stop
from dressage.runs.facts.findings import forget_after, note_losses
from dressage.runs.life.damage import damage_sentence, store_damage
from dressage.runs.life.lifecycle import MAX_REASON, transition
from dressage.runs.models import Attempt, Checkpoint, Run
from dressage.runs.needs.choice import reservation_of
from dressage.runs.recovery.checkpoints import (
    damaged_ones,
    forget_damage,
    good_checkpoints,
    passed_over,
    relative_path,
)
from dressage.runs.states import ACTIVE, By, DesiredState, RunState
from dressage.runs.steer.controls import restage
from dressage.runs.tokens import link_token
from dressage.telemetry.events import append_event
from dressage.telemetry.models import Moment
from trainer_core.link.events import UnusableCheckpoint

LEASE_S = 15
"""Seconds without a sync after which an attempt is assumed dead."""
QUIET_S = 3
"""Seconds of silence of a worker, beyond the requested pace, after which the cluster is asked whether it lives."""
FRUITLESS_LIMIT = 5
"""Number of consecutive attempts from the same step after which the run fails."""
RECONCILER = Actor.system("reconciler")
_RESTORE = "Put the files back and resume the run, or start another one."


def begin(run: Run, reason: str, cluster: str | None = None) -> Attempt | None:
    """Create the next attempt of a queued or active run, and notify the cluster on commit.

    The run continues from the newest whole checkpoint, otherwise from its origin or from the beginning. If only damaged
    checkpoints are left, it fails instead: it must not begin again as if it had none. Without ``cluster`` it stays on
    the cluster of the previous attempt.

    Returns:
        The attempt; None if the run has failed.
    """
    cluster = cluster or _present_cluster(run)
    if run.state == RunState.QUEUED:
        forget_damage(run)  # a person resumes it, and may have put files back: the worker verifies them again
    resume_step, checkpoint = resume_point(run)
    if checkpoint is None and not run.continues and (left := damaged_ones(run)):
        why = f"No whole checkpoint is left: {damage_sentence(left)}. {_RESTORE}"
        transition(run, RunState.FAILED, by=By.PLATFORM, actor=RECONCILER, reason=why)
        return None
    if again := _steps_done_again(run, resume_step):
        reason = f"{reason} {again}"
    number = run.attempt + 1
    attempt = Attempt.objects.create(
        run=run,
        number=number,
        cluster=cluster,
        gpus=clusters.size(cluster).gpus_held(reservation_of(run.spec)),
        token_sha256=secret_hash(link_token(run.id, number)),
        resume_step=resume_step,
        checkpoint=checkpoint,
        created_at=timezone.now(),
        rung_at=Now(),
    )
    run.attempt, run.step, run.progress = number, resume_step, None
    moments = Moment.objects.filter(run=run, step__lte=resume_step, step__gt=0).order_by("-step", "-attempt")
    run.tokens_total = moments.values_list("tokens_total", flat=True).first() or 0
    run.save(update_fields=["attempt", "step", "progress", "tokens_total", "updated_at"])
    if number > 1:
        restage(run, resume_step)
        forget_after(run, resume_step)
    if run.state != RunState.STARTING:
        transition(run, RunState.STARTING, by=By.PLATFORM, actor=RECONCILER, reason=reason, step=resume_step)
    elif again:
        run.state_reason = reason[:MAX_REASON]
        run.save(update_fields=["state_reason", "updated_at"])
    if again:
        data = {
            "level": "warn",
            "title": "A checkpoint cannot be used",
            "message": again,
            "code": "checkpoint_unusable",
        }
        append_event(run, "alert", data, step=resume_step)
    enqueue_start(run.id, number, cluster)
    return attempt


def _steps_done_again(run: Run, resume_step: int) -> str:
    """Sentence about checkpoints after ``resume_step`` that cannot be used; empty if there are none."""
    unusable = passed_over(run, resume_step)
    if not unusable:
        return ""
    reached = run.attempts.aggregate(reached=Max("last_step"))["reached"] or 0
    first, last = resume_step + 1, max(reached, unusable[0].step)
    steps = f"step {first} is" if first == last else f"steps {first} to {last} are"
    sentence = damage_sentence(unusable)
    return f"{sentence[0].upper()}{sentence[1:]}: {steps} done again."


def _present_cluster(run: Run) -> str:
    """The cluster of the run's newest attempt, unless it is no longer part of the installation."""
    before = run.attempts.filter(number=run.attempt).values_list("cluster", flat=True).first()
    names = clusters.cluster_names()
    options = (clusters.known_as(before or ""), run.cluster)
    return next((name for name in options if name in names), names[0])


def fence(attempt: Attempt, reason: str) -> None:
    """Give an attempt up: from now on its requests are answered with 409, and the cluster is asked to kill it."""
    attempt.fenced, attempt.ended_at, attempt.end_reason = True, timezone.now(), reason[:500]
    attempt.save(update_fields=["fenced", "ended_at", "end_reason"])
    enqueue_stop(attempt.run_id, attempt.number, attempt.cluster)


@transaction.atomic
def fail_attempt(attempt_id: int, reason: str) -> None:
    """End the run of an attempt that the platform cannot work with, for a reason that another attempt would not fix.

    A run that has ended, or that another attempt works on, is left unchanged.
    """
    run = Run.objects.select_for_update(of=("self",)).get(attempts=attempt_id)
    attempt = Attempt.objects.get(pk=attempt_id)
    if run.state not in ACTIVE or attempt.fenced or attempt.number != run.attempt:
        return
    fence(attempt, reason)
    to = RunState.CANCELLED if run.desired_state == DesiredState.CANCELLED else RunState.FAILED
    transition(run, to, by=By.PLATFORM, actor=Actor.system("link"), reason=reason)


def give_up_lease(run: Run, attempt: Attempt, reason: str) -> bool:
    """Note that an attempt is known to be lost. Returns whether its lease ends now: the next sweep replaces it.

    An attempt that was lost before its first step, like the one before it, keeps its lease until it expires: a cause
    that persists must not use up all attempts within seconds.
    """
    attempt.end_reason = reason[:500]
    attempt.save(update_fields=["end_reason"])
    if attempt.last_step <= attempt.resume_step and _fruitless(run) > 1:
        return False
    Attempt.objects.filter(pk=attempt.pk).update(lease_expires_at=Now())
    enqueue_reconcile()
    return True


def replace_without(run: Run, attempt: Attempt, told: UnusableCheckpoint) -> None:
    """Handle an attempt that ended because its checkpoint cannot be used: mark it, and continue from an older one.

    A run whose only beginning is damaged, the copy of its parent's checkpoint, fails.

    Raises:
        ValueError: the path is not inside the run's folder.
    """
    path = relative_path(run, told.path)
    checkpoint = run.checkpoints.select_related("run").filter(path=path).first()
    if told.gone:
        replace(run, attempt, f"attempt {attempt.number} did not find {told.path}")
    elif checkpoint is not None:
        store_damage(checkpoint, told.fault)
        replace(run, attempt, f"attempt {attempt.number} could not read its checkpoint")
    else:
        reason = f"The checkpoint from which the run starts is damaged: {told.fault}. {_RESTORE}"
        fence(attempt, reason)
        to = RunState.CANCELLED if run.desired_state == DesiredState.CANCELLED else RunState.FAILED
        transition(run, to, by=By.PLATFORM, actor=RECONCILER, reason=reason)


def replace(run: Run, attempt: Attempt, why: str) -> None:
    """Handle a lost attempt: fence it, and continue with a new one, or end the run if further attempts are futile."""
    fence(attempt, why)
    if run.desired_state == DesiredState.CANCELLED:
        transition(run, RunState.CANCELLED, by=By.PLATFORM, actor=RECONCILER, reason=f"Cancelled; {why}.")
        return
    tried = _fruitless(run)
    if tried >= FRUITLESS_LIMIT:
        reason = f"{tried} attempts did not get past step {attempt.resume_step}; the last: {why}."
        transition(run, RunState.FAILED, by=By.PLATFORM, actor=RECONCILER, reason=reason)
        return
    previous = run.state
    begun = begin(run, f"Attempt {run.attempt + 1}: {why}.")
    if begun is not None and tried > 1:
        note_losses(run, tried, begun.resume_step, why)
    if begun is not None and previous == RunState.STARTING:
        # The state has not changed, so there is no event for that, but the new attempt must be reported.
        message = f"Attempt {begun.number} continues from step {begun.resume_step}: {why}."
        append_event(run, "alert", {"level": "warn", "title": "New attempt", "message": message})


def _fruitless(run: Run) -> int:
    """Number of latest attempts, since the run was last queued, that started at the step where a new one would."""
    step = resume_point(run)[0]
    begun = run.attempts.filter(created_at__gte=run.queued_at).order_by("-number").values_list("resume_step", flat=True)
    return len(list(takewhile(lambda resume_step: resume_step == step, begun)))


def resume_point(run: Run) -> tuple[int, Checkpoint | None]:
    """(step, checkpoint) where the next attempt continues: the newest whole checkpoint, otherwise the origin, or 0."""
    checkpoint = next(good_checkpoints(run), None)
    if checkpoint is not None:
        return checkpoint.step, checkpoint
    return (run.origin_step or 0) if run.continues else 0, None
