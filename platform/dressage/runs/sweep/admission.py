"""Admission: free places are given to waiting runs, here alone and under one lock.

The database decides and commits; the messages to the cluster go out afterwards and may be lost or doubled, since the
reconciler repeats them and an attempt starts once.
"""

from django.db import connection, transaction
from django.db.models.functions import Now

from dressage.common.api.problems import Problem, validated
from dressage.runs.facts.places import candidates, next_team, places_in_all, queues, sizes
from dressage.runs.life.lifecycle import transition
from dressage.runs.models import Run, TeamPlaces
from dressage.runs.needs import references
from dressage.runs.recovery.attempts import RECONCILER, begin
from dressage.runs.states import By, RunState
from trainer_core.spec import RunSpec

_PLACES_LOCK = 0x6472_6573_7361_6765
"""Advisory lock under which places are counted and given."""


def fill_places() -> None:
    """Give every free place away, as long as somebody may have it."""
    while _give_one():
        pass


def _give_one() -> bool:
    """Give one place to the head of the queue whose turn it is. False: no place is free, or nobody may have it."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_PLACES_LOCK])
        found = sizes()
        if not any(size.free for size in found):
            return False
        first = candidates(found)
        queue = next_team(queues(first, places_in_all(found)))
        if queue is None:
            return False
        chosen = first[queue.team_id]
        run = Run.objects.select_for_update(of=("self",)).filter(pk=chosen.run_id, state=RunState.QUEUED).first()
        if run is not None:  # else it was cancelled in this moment: look again
            _start(run, chosen.cluster.name)
        return True


def _start(run: Run, cluster: str) -> None:
    try:
        references.require_files(run.team, validated(RunSpec, run.spec, "spec"), new=not run.has_begun)
    except Problem as problem:
        transition(run, RunState.FAILED, by=By.PLATFORM, actor=RECONCILER, reason=problem.detail)
        return
    TeamPlaces.objects.update_or_create(team_id=run.team_id, defaults={"served_at": Now()})
    reason = "A place is free." if run.attempt == 0 else f"A place is free for attempt {run.attempt + 1}."
    begin(run, reason, cluster)
