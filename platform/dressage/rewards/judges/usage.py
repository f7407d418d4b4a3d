"""Which runs ask a judge. A run may name it through its reward, its shadows, or as the one that proposes items."""

from dressage.rewards import needs
from dressage.rewards.models import RewardVersion
from dressage.runs.models import Run
from dressage.runs.states import FINISHED
from dressage.teams.models import Team
from trainer_core.rewards import RewardDefinition


def runs_that_ask(team: Team, slug: str) -> list[str]:
    """Names of the team's runs that have not ended and need the judge ``slug``."""
    asking = set()
    for version in RewardVersion.objects.for_team(team).select_related("reward"):
        definition = RewardDefinition.model_validate(version.definition)
        if any(named == slug for _, named in needs.named_endpoints(definition)):
            asking.add(version.ref)
    found = Run.objects.for_team(team).exclude(state__in=FINISHED).order_by("created_at")
    names = []
    for name, reward in found.values_list("name", "effective_spec__reward"):
        refs = {reward["definition"], *reward.get("shadow", ())}
        proposer = (reward.get("evolve") or {}).get("endpoint")
        if refs & asking or proposer == slug:
            names.append(name)
    return names
