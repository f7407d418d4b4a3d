"""One sync of a worker: events up, commands down, and renewal of the lease, all in one transaction."""

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict, cast

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from dressage.common.api.problems import Problem
from dressage.common.compiled import compiled
from dressage.runs.facts import ramps
from dressage.runs.facts.findings import FindingDocument
from dressage.runs.facts.gpu_hours import held_from
from dressage.runs.link.acknowledge import acknowledge
from dressage.runs.link.auth import require_current
from dressage.runs.link.ingest import Ingest
from dressage.runs.link.pace import pace
from dressage.runs.models import Attempt, CheckpointRequest, Control, Run
from dressage.runs.needs import reward_versions
from dressage.runs.recovery.attempts import LEASE_S, give_up_lease, replace_without
from dressage.runs.recovery.guard_acts import change_field
from dressage.runs.recovery.releases import gives_back
from dressage.runs.states import ACTIVE, FINISHED, ControlState, RunState
from dressage.telemetry.wakeup import wake_on_commit
from trainer_core.link.commands import CheckpointCommand, Command, ControlCommand
from trainer_core.link.events import LinkEvent
from trainer_core.link.sync import SyncAnswer, SyncRequest

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

logger = structlog.get_logger(__name__)


class AttemptFacts(TypedDict):
    """Facts that ``_attempts`` adds to an attempt."""

    has_commands: bool
    has_ramps: bool


@transaction.atomic
def sync(attempt_id: int, body: SyncRequest) -> SyncAnswer:
    """Store new events and reports, and return what the worker should do next, from the resulting state.

    An attempt that has ended the run itself gets one more answer if it repeats its last message, because the first
    answer was lost. Nothing is written or renewed then.

    Raises:
        Problem: 409 if the attempt has been given up or has ended; 400 if an event is missing between the acknowledged
            ones and these. Nothing was changed in either case.
    """
    # Few events need the specs, which are larger than everything else together. They are read only when needed.
    runs = Run.objects.select_for_update(of=("self",)).defer("spec", "effective_spec")
    run = runs.get(attempts=attempt_id)
    attempt = _attempts().get(pk=attempt_id)
    if body.attempt != attempt.number:
        raise Problem(403, "Not allowed", f"This token is for attempt {attempt.number}.", code="foreign_token")
    if _repeats_its_end(run, attempt, body):
        return SyncAnswer(acked_seq=attempt.acked_seq, commands=(), desired_state=run.desired_state, lease_s=LEASE_S)
    require_current(attempt, run)
    fresh, before = new_events(body.events, attempt.acked_seq), run.step
    changes = list[FindingDocument]()
    if fresh:
        ingest = Ingest(run, attempt)
        ingest.take(fresh)
        attempt.acked_seq = fresh[-1].seq
        changes = ingest.changes_wanted
        for finding in changes:
            change_field(run.id, finding)
        if changes:
            run.refresh_from_db(fields=["event_seq", "revision", "findings", "updated_at"])
        if ingest.unusable is not None and run.state in ACTIVE:
            replace_without(run, attempt, ingest.unusable)
        if ingest.changed:
            wake_on_commit(run.id, run.team_id)
    acknowledge(run, body.applied)
    if attempt.has_ramps and run.step > before:
        ramps.follow(run)
    now, seconds = timezone.now(), pace.seconds()
    held = {} if body.gpus is None else held_from(attempt, body.gpus, now)
    Attempt.objects.filter(pk=attempt.pk).update(
        acked_seq=attempt.acked_seq,
        last_step=attempt.last_step,
        first_sync_at=attempt.first_sync_at or now,
        last_sync_at=Now(),
        lease_expires_at=Now() + timedelta(seconds=LEASE_S + seconds),
        **held,
        **({"releasing_at": now} if body.releasing and attempt.releasing_at is None else {}),
    )
    if body.lost is not None and run.state in ACTIVE and run.attempt == attempt.number:
        give_up_lease(run, attempt, body.lost)
    return SyncAnswer(
        acked_seq=attempt.acked_seq,
        commands=tuple(command.wire() for command in commands(run)) if attempt.has_commands or changes else (),
        desired_state=run.desired_state,
        release_place=gives_back(run),
        lease_s=LEASE_S + seconds,
        **({"pace_s": seconds} if seconds else {}),
    )


@cache
def _attempts() -> "QuerySet[WithAnnotations[Attempt, AttemptFacts]]":
    """Attempts, annotated with whether there may be commands for them, and whether values of their run are moving.
    Nothing is added to this while the run is locked."""
    staged = Control.objects.filter(run=OuterRef("run"), state=ControlState.STAGED)
    wishes = CheckpointRequest.objects.filter(run=OuterRef("run"), closed_at=None)
    moving = Control.objects.filter(run=OuterRef("run"), state=ControlState.APPLIED, ramp_steps__isnull=False)
    facts = compiled(Attempt.objects.annotate(has_commands=Exists(staged) | Exists(wishes), has_ramps=Exists(moving)))
    return cast("QuerySet[WithAnnotations[Attempt, AttemptFacts]]", Attempt.objects.annotate(**facts))


def _repeats_its_end(run: Run, attempt: Attempt, body: SyncRequest) -> bool:
    """Whether a worker that has ended the run itself repeats its last message."""
    ended_it = run.state in FINISHED | {RunState.SUSPENDED} and attempt.number == run.attempt and not attempt.fenced
    return ended_it and bool(body.events) and body.events[-1].seq == attempt.acked_seq


def new_events(events: tuple[LinkEvent, ...], acked_seq: int) -> list[LinkEvent]:
    """The events after the acknowledged ones. Raises a 400 problem for a gap or a wrong order."""
    fresh = [event for event in events if event.seq > acked_seq]
    for expected, event in enumerate(fresh, start=acked_seq + 1):
        if event.seq != expected:
            detail = f"Event {event.seq} arrived, but {expected} was expected."
            raise Problem(400, "Bad request", detail, code="event_gap", extra={"acked_seq": acked_seq})
    return fresh


def commands(run: Run) -> list[Command]:
    """All commands on which the worker has not yet reported."""
    staged = Control.objects.filter(run=run, state=ControlState.STAGED).order_by("revision")
    wishes = run.checkpoint_requests.filter(closed_at=None).order_by("created_at", "id")
    return [
        *(
            ControlCommand(
                id=control.id,
                type="control",
                revision=control.revision,
                target=control.target,
                value=control.value,
                apply_at="next" if control.apply_at is None else control.apply_at,
                **ramps.command_part(control),
                **({} if control.change_set is None else {"change_set": control.change_set}),
                **_definitions(run, control),
            )
            for control in staged
        ),
        *(CheckpointCommand(id=wish.id, type="checkpoint") for wish in wishes),
    ]


def _definitions(run: Run, control: Control) -> dict[str, Any]:
    """``{definitions: {ref: …}}`` for a control that names reward versions: the worker only has its initial ones."""
    refs = reward_versions.named_by(control.target, control.value)
    try:
        versions = reward_versions.for_workers(run.team, refs)
        return {"definitions": {ref: version.wire() for ref, version in versions.items()}} if refs else {}
    except Problem as problem:
        # A judge has become invalid since the control was staged. Without a definition, the worker rejects the control.
        logger.warning("control without its definitions", run=run.id, control=control.id, reason=problem.detail)
        return {"definitions": {}}
