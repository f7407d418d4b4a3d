"""Admission: the only code that gives free slots to waiting runs, under a single lock.

The database decides and commits. The messages to the cluster are sent afterwards and may be lost or duplicated, since
the reconciler repeats them and an attempt starts only once.
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
"""Advisory lock for counting and assigning slots."""


def fill_places() -> None:
    """Assign all free slots, as long as a run may take one."""
    while _give_one():
        pass


def _give_one() -> bool:
    """Give one slot to the first run of the queue whose turn it is. False: no slot is free, or no run may take it."""
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
        if run is not None:  # None: it was cancelled at this moment, so look again
            _start(run, chosen.cluster.name)
        return True


def _start(run: Run, cluster: str) -> None:
    try:
        spec = validated(RunSpec, run.spec, "spec")
        references.require_files(run.team, spec, new=not run.has_begun, begun=run.attempt > 0)
    except Problem as problem:
        transition(run, RunState.FAILED, by=By.PLATFORM, actor=RECONCILER, reason=problem.detail)
        return
    TeamPlaces.objects.update_or_create(team_id=run.team_id, defaults={"served_at": Now()})
    reason = "A slot is free." if run.attempt == 0 else f"A slot is free for attempt {run.attempt + 1}."
    begin(run, reason, cluster)
