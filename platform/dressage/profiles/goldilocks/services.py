"""Actions of people on goldilocks: start, cancel, undo."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from dressage.cluster_jobs.models import OPEN
from dressage.common.actors import Actor
from dressage.common.api.problems import conflict, not_found
from dressage.datasets.versions import deletion, notes
from dressage.profiles.goldilocks.asked import AskedGoldilocks
from dressage.profiles.goldilocks.cost import GoldilocksCost, cost_of_goldilocks, require_stages
from dressage.profiles.goldilocks.stages import begin_stage
from dressage.profiles.models import GOLDILOCKS_OPEN, Goldilocks, GoldilocksState
from dressage.profiles.services import cancel_profile
from dressage.runs.life.services import require_cluster
from dressage.runs.needs import objective, references
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.rewards import RewardDefinition


@dataclass(frozen=True, slots=True)
class Started:
    """The cost of a goldilocks, and the job if it was started."""

    cost: GoldilocksCost
    job: Goldilocks | None


def start_goldilocks(
    team: Team, actor: Actor, *, threshold: float | None = None, dry_run: bool = False, **fields: Any
) -> Started:
    """A new goldilocks. Its first profile waits, or already existed; the sweep does the rest.

    Args:
        team: the owner.
        actor: who requests it.
        threshold: minimum reward at which an answer counts as right; None for that of the reward's definition.
        dry_run: whether only to return the cost.
        fields: the fields of ``AskedGoldilocks``.

    Raises:
        Problem: as ``cost_of_goldilocks``; 409 if one of the version is already open; 429 if too many profiles of the
            team are open. Nothing is created then.
    """
    require_cluster(fields["cluster"])
    objective.require_samples(fields["spec"], "A goldilocks")
    reward = references.require(team, fields["spec"], new=True).reward
    assert reward is not None
    usual = RewardDefinition.model_validate(reward.definition).success_threshold
    asked = AskedGoldilocks(threshold=usual if threshold is None else threshold, **fields)
    cost = cost_of_goldilocks(team, asked)
    if dry_run:
        return Started(cost, None)
    with transaction.atomic():
        references.hold(team, asked.spec)
        version = require_stages(team, asked)  # may have been deleted in the meantime
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        if Goldilocks.objects.for_team(team).filter(version=version, state__in=GOLDILOCKS_OPEN).exists():
            detail = f"A goldilocks of {version.ref} is still running. Wait until it ends, or cancel it."
            raise conflict(detail, code="goldilocks_is_open")
        job = Goldilocks.objects.create(
            team=team,
            version=version,
            asked=asked.model_dump(mode="json"),
            actor={"kind": actor.kind, "id": actor.id, "name": actor.name},
            created_by=actor.label,
        )
        facts = {"version": version.ref, "first": asked.spec.policy.base}
        facts["second"] = "" if asked.second is None else asked.second.policy
        record_audit(team, actor, "goldilocks.start", "goldilocks", job.id, after=facts)
        begin_stage(job, asked, "first")
    return Started(cost, job)


@transaction.atomic
def cancel_goldilocks(team: Team, actor: Actor, goldilocks_id: str) -> Goldilocks:
    """End a goldilocks, and its unfinished profile. Finished profiles remain; no version is created.

    Raises:
        Problem: 404 if it does not exist, 409 if it is over.
    """
    job = _locked(team, goldilocks_id)
    if job.state not in GOLDILOCKS_OPEN:
        raise conflict(f"The goldilocks has ended: it is {job.state}.", code="goldilocks_is_over")
    for stage, profile in (("first", job.first), ("second", job.second)):
        if profile is not None and stage not in job.reused and profile.state in OPEN:
            cancel_profile(team, actor, profile.id)
    job.state, job.finished_at = GoldilocksState.CANCELLED, timezone.now()
    job.save(update_fields=["state", "finished_at"])
    record_audit(team, actor, "goldilocks.cancel", "goldilocks", job.id)
    return job


@transaction.atomic
def undo_goldilocks(team: Team, actor: Actor, goldilocks_id: str) -> Goldilocks:
    """Delete the version that a goldilocks has created, and its notes. Its profiles remain for later use.

    Raises:
        Problem: 404 if it does not exist; 409 if it has no version, or something needs the version. Nothing changes
            then.
    """
    job = _locked(team, goldilocks_id)
    made = job.made_version
    mine = [one for one in notes.of(job.version) if one.source["id"] == job.id]
    if made is None and not mine:
        raise conflict("The goldilocks's version does not exist or was already deleted.", code="nothing_to_undo")
    if made is not None:
        deletion.take_back(made, actor)
    for one in mine:
        notes.delete(one, actor)
    job.made = None
    job.save(update_fields=["made"])
    after = {"ref": job.version.ref} | ({} if made is None else {"deleted": made.ref})
    record_audit(team, actor, "goldilocks.undo", "goldilocks", job.id, after=after)
    return job


def _locked(team: Team, goldilocks_id: str) -> Goldilocks:
    found = Goldilocks.objects.for_team(team).select_for_update(of=("self",))
    job = found.select_related("version__dataset", "made__dataset", "team").filter(pk=goldilocks_id).first()
    if job is None:
        raise not_found("goldilocks")
    return job
