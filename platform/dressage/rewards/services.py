"""Changes to rewards."""

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import conflict
from dressage.common.slugs import slug_for
from dressage.rewards import needs
from dressage.rewards.judges import records
from dressage.rewards.models import Reward, RewardVersion
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.rewards import RewardDefinition


@transaction.atomic
def create_reward(
    team: Team, actor: Actor, *, name: str, definition: RewardDefinition, slug: str | None = None, note: str = ""
) -> Reward:
    """Create a reward with its first version.

    Raises:
        Problem: 409 if the slug is taken; 422 if the definition names a judge or policy that the team lacks.
    """
    slug = slug_for(name, slug)
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if Reward.objects.for_team(team).filter(slug=slug).exists():
        detail = f"There is already a reward {slug!r}. Create a new version of it, or choose another slug."
        raise conflict(detail, code="slug_taken", errors=[FieldError(pointer="/slug", detail=detail)])
    reward = Reward.objects.create(team=team, slug=slug, name=name, created_by=actor.label)
    _add_version(reward, actor, definition, note)
    return reward


@transaction.atomic
def create_version(reward: Reward, actor: Actor, *, definition: RewardDefinition, note: str = "") -> RewardVersion:
    """Create the next version of a reward. Raises a 422 problem if it names a judge or policy that the team lacks."""
    locked = Reward.objects.select_for_update(no_key=True).get(pk=reward.pk)
    return _add_version(locked, actor, definition, note)


def _add_version(reward: Reward, actor: Actor, definition: RewardDefinition, note: str) -> RewardVersion:
    needs.require(reward.team, definition, "definition")
    last = reward.versions.order_by("-number").first()
    document = definition.model_dump(mode="json")
    version = RewardVersion.objects.create(
        reward=reward,
        number=last.number + 1 if last else 1,
        definition=document,
        judges=records.current(reward.team, definition.endpoints),
        note=note,
        created_by=actor.label,
    )
    record_audit(
        reward.team,
        actor,
        "reward.version" if last else "reward.create",
        "reward",
        reward.id,
        before=last and {"ref": last.ref, "definition": last.definition},
        after={"ref": version.ref, "definition": document},
        reason=note,
    )
    return version
