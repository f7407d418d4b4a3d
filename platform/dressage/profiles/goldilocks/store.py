"""Writes of the version that a goldilocks creates: stored together with its end and its notes, or not at all."""

from collections.abc import Callable

import pyarrow as pa
from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.datasets.derivation.operations import KeepRows
from dressage.datasets.derivation.services import DerivedVersion, derive
from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import notes, storage
from dressage.datasets.versions.notes import NoteSource
from dressage.profiles.goldilocks.asked import AskedGoldilocks, StageName
from dressage.profiles.goldilocks.decide import Decision, PastStage, decide
from dressage.profiles.models import GOLDILOCKS_OPEN, Goldilocks, GoldilocksState, Profile
from dressage.profiles.outcomes import outcomes_of
from dressage.profiles.review import confirmed

NOTES = "goldilocks"
"""Name of the row notes."""
_BUSY = (429, 503)


class _Over(Exception):
    """It was ended in the meantime."""


def store_version(job: Goldilocks) -> None:
    """Create the version from the kept rows and end the job, or end the job with the reason that prevents it.

    If too many files are being read at the same time, nothing changes: the next round tries again.
    """
    asked = AskedGoldilocks.model_validate(job.asked)
    stages = [_stage(job, asked, name) for name in asked.stages]
    told = [stage for stage in stages if stage is not None]
    if len(told) < len(stages):
        detail = "The pass rates of its profiles were replaced by a later profile. Start again."
        return _fail(job, detail, None)
    decision = decide(asked, told, confirmed(job.version))
    if not decision.report["kept"]:
        return _fail(job, "No row would remain: every row is outside a band. Widen the bands.", decision)
    try:
        _derive(job, asked, decision)
    except _Over:
        return None
    except Problem as problem:
        if problem.status not in _BUSY:
            _fail(job, f"{problem.detail} Then start again: finished sampling costs nothing.", decision)
    return None


def _stage(job: Goldilocks, asked: AskedGoldilocks, name: StageName) -> PastStage | None:
    """A stage with its outcomes; None if these are gone."""
    profile_id = job.first_id if name == "first" else job.second_id
    profile = Profile.objects.select_related("version__dataset").get(pk=profile_id)
    outcomes = outcomes_of(profile)
    if outcomes is None:
        return None
    policy = asked.spec_of(name).policy.base
    return PastStage(name, profile.id, policy, name in job.reused, asked.plan_of(name), outcomes)


def _derive(job: Goldilocks, asked: AskedGoldilocks, decision: Decision) -> None:
    ids: set[str] = set()
    fates = iter(decision.dropped)
    for table in storage.tables(job.version.path):
        ids |= {row_id for row_id in table.column("id").to_pylist() if next(fates) is None}
    arguments = {
        "goldilocks": job.id,
        "reward": asked.spec.reward.definition,
        "outside_first": asked.outside_first,
        "suspect_golds": asked.suspects,
        **decision.report,
    }
    actor = Actor(**job.actor)

    def within(store: Callable[[], list[DerivedVersion]]) -> list[DerivedVersion]:
        locked = _locked(job)
        results = store()
        made = results[0]
        locked.made = DatasetVersion.objects.get(dataset=made["dataset_id"], number=made["number"])
        locked.state, locked.report = GoldilocksState.DONE, dict(decision.report)
        locked.finished_at = timezone.now()
        locked.save(update_fields=["made", "state", "report", "finished_at"])
        source: NoteSource = {"kind": NOTES, "id": job.id, "arguments": {"made": made["ref"]}}
        notes.write(job.version, NOTES, _table(decision), by=actor, source=source, carried=False)
        return results

    operation = KeepRows(name="filter", ids=frozenset(ids), arguments=arguments)
    derive(job.team, job.version, actor, operation, into=asked.into, within=within)


def _table(decision: Decision) -> pa.Table:
    """Columns of the notes: pass rates of both stages, and by what and why a row was dropped; null if it was kept."""
    untold: list[float | None] = [None] * len(decision.dropped)
    return pa.table(
        {
            "first_pass_rate": pa.array(decision.rates["first"], pa.float64()),
            "second_pass_rate": pa.array(decision.rates.get("second", untold), pa.float64()),
            "dropped_by": pa.array([one and one[0] for one in decision.dropped], pa.string()),
            "reason": pa.array([one and one[1] for one in decision.dropped], pa.string()),
        }
    )


@transaction.atomic
def _fail(job: Goldilocks, reason: str, decision: Decision | None) -> None:
    """End it without a version, unless it is over. The decision is stored so that people can look at it."""
    try:
        locked = _locked(job)
    except _Over:
        return
    locked.state, locked.error, locked.finished_at = GoldilocksState.FAILED, reason[:2000], timezone.now()
    locked.report = None if decision is None else dict(decision.report)
    locked.save(update_fields=["state", "error", "report", "finished_at"])


def _locked(job: Goldilocks) -> Goldilocks:
    locked = Goldilocks.objects.select_for_update().get(pk=job.pk)
    if locked.state not in GOLDILOCKS_OPEN:
        raise _Over
    return locked
